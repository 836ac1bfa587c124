"""Labels in and items out, one format a file."""
