"""Files and objects to pools, one format a file."""
