"""Bodies of destinations: what they share in `base`, one file per destination, all of them in `registry`."""
