"""Targets: the Secrets and ConfigMaps that custom resources write. Every kind that writes one uses this package."""
