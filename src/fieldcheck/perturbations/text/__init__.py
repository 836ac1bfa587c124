"""Changes of texts, one a file."""
