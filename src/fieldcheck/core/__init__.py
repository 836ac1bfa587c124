"""The nouns: frozen, self-validating, and free of everything else in the package."""
