"""Manifests of other operators as manifests of ours, and what of them could not be carried over. Pure."""
