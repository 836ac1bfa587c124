"""How plausible perturbed inputs still are, one score a file."""
