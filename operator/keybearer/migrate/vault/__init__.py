"""Vault Secrets Operator: `secrets.hashicorp.com`."""
