"""Bytes on disk: text in any encoding, files that are written whole or not at all."""
