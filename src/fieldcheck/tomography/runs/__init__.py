"""Measuring, resumable: schedule, stopping, the folder of a run."""
