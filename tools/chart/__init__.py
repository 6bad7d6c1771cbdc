"""The Helm chart: rendered, checked, and its README kept in step with its values."""
