"""The kind CertificateProfile: certificates of the service, kept in Secrets and renewed in time."""
