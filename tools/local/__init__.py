"""Programs on this machine: how they are started, and how to speak to them."""
