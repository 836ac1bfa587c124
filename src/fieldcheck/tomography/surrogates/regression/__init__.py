"""Parts of the logistic surrogate."""
