"""Changes of images, one a file."""
