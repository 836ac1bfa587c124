"""Exact neighbours and densities."""
