"""Where secrets are pushed to: a module for each vendor, and the engine that runs what these modules say."""
