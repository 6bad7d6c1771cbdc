"""Bodies of app connections: what they share in `base`, one file per app, all of them in `registry`."""
