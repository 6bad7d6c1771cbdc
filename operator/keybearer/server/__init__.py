"""The HTTP shell of the service: FastAPI, no decisions."""
