"""Small regressions: risk, disagreement, grouped posteriors."""
