"""Secret syncs: `service` and `asking` handle requests, `engine` runs the jobs."""
