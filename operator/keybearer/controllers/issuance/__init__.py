"""Issuance: what `certificateprofile` and `signers` share when they ask the service for certificates."""
