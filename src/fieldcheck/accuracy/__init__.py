"""How accurate is the model in operation? Pool, auxiliary variables, design, labels, estimator, statement."""
