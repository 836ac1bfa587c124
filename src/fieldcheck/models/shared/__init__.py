"""What adapters of models share."""
