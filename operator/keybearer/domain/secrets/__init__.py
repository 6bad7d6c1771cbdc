"""Secrets: names and values, references, reading, writing, and the tag of a list."""
