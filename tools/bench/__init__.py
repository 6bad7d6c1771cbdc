"""Programs that measure Keybearer from outside and print figures.

`docs/performance.md` says how to run and how to read them.
"""
