"""`keybearer init`: from a service and a cluster to the first Secret in sync."""
