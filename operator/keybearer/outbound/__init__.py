"""What the service calls: everything that a caller's data can aim passes this package."""
