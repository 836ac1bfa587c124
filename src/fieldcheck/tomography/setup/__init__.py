"""From a space file to a subject that can be measured."""
