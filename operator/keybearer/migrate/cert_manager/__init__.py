"""cert-manager: `cert-manager.io`."""
