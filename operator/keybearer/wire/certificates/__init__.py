"""Certificates on the wire: policies, profiles, authorities, applications, requests, approval, subscribers."""
