"""Writes the reference, docs/reference, from the code: custom resources, reasons, metrics, commands, Events, labels.

Tables within pages that people write, such as those of destinations, are written too.
"""
