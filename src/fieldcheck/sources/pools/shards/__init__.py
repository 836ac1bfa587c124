"""A pool as a folder of Parquet files: the list of them, how they are written and read, and what they are cut from."""
