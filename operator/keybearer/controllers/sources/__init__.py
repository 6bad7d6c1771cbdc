"""Sources: folders of the service that are read for all who want them, and followed."""
