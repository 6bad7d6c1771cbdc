"""Remotes that connections lead to, on loopback, and what apps and drivers are called with in tests."""
