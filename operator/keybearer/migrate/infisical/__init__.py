"""The Infisical operator: `secrets.infisical.com`."""
