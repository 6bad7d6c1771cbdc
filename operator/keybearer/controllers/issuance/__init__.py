"""Issuance: what everyone needs who asks the service for certificates, the owners of profiles and the signers."""
