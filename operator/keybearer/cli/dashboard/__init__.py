"""`keybearer dashboard`: a read-only page of what the user may list, served on loopback."""
