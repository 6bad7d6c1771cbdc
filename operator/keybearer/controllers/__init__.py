"""The operator: queue, kopf shell, and one package for each kind."""
