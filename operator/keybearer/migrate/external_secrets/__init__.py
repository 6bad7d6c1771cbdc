"""External Secrets Operator: `external-secrets.io`."""
