"""App connections: made, changed, proven at their remote, and their credentials made anew."""
