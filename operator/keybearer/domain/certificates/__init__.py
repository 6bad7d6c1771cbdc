"""Certificates: authorities, policies, profiles, requests and what comes of them."""
