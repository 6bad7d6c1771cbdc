"""A long run of everything together, under changes, edits, restarts and faults: `make soak`.

It uses `tools.bench` (proxy, meters, the API server's counts), `tools.controlplane` and `tools.local`.
"""
