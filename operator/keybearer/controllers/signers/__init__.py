"""Signers for what others ask of a CertificateProfile through the cluster's own kinds of requests."""
