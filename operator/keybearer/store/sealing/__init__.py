"""Envelope encryption: a root key wraps data keys, a data key seals the values of one project."""
