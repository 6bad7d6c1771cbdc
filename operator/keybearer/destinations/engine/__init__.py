"""Runs what the modules of vendors say: `open_destination` gives the sync engine what it works with."""
