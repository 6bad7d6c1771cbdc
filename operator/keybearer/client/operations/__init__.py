"""The operations of the interface, each a frozen dataclass of its arguments."""
