"""Apps: how a connection proves itself to its remote. `protocol` is what others know of them."""
