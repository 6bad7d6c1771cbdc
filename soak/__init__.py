"""A long run of everything together, under changes, edits, restarts and faults: `make soak`.

It stands on `bench` (proxy, meters, the API server's counts) and on `support` (control plane, processes).
"""
