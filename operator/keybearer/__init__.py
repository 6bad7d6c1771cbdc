"""Keybearer: secrets and certificates for Kubernetes, and out to other stores."""

__all__ = ["__version__"]

from importlib.metadata import version

__version__ = version("keybearer")
