"""Certificate authorities elsewhere that speak ACME (RFC 8555)."""
