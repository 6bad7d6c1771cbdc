"""A database that an earlier version left, with the places that its syncs pushed to."""
