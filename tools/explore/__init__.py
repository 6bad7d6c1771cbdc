"""Looks for the next hole: runs scenarios again and again, each time with one disturbance at one place.

`python -m tools.explore --help` says how. It needs the development environment, which `make setup` makes.
"""
