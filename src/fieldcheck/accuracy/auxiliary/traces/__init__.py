"""What auxiliary variables share that look at traces of a model."""
