"""The pool: its columns, ids, origin, and the frame that designs look at."""
