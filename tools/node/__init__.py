"""A cluster with nodes that run pods, on this machine: `cluster.NodeCluster`, and `python -m tools.node`."""
