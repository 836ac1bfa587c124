"""Several models on one pool: where they disagree, which is better, old labels for a new version."""
