"""Drivers: what each destination reads, writes and deletes. `protocol` is what the sync engine knows of them."""
