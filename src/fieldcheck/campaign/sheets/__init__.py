"""A list of items in a CSV, and the questions that it asks."""
