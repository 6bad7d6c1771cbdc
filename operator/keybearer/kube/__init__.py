"""The Kubernetes gateway: reads, server-side apply, status, Events, Lease, reference watch."""
