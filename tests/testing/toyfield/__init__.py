"""A package of others: one file for each thing that it adds, one line each in entry_points.txt."""
