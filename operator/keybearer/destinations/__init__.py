"""Where secrets are pushed to: a module for each vendor, and the engine that runs these modules."""
