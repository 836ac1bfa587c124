"""How far perturbed inputs are from clean ones, one score a file."""
