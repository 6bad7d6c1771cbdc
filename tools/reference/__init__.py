"""Writes the reference, docs/reference, from the code: custom resources, reasons, metrics, commands, Events, labels."""
