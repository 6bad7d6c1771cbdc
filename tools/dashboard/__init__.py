"""Builds the page of `keybearer dashboard`, and holds what is committed of it against its source."""
