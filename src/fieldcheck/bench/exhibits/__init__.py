"""Tables and charts of a comparison beyond its rankings: one kind, one file."""
