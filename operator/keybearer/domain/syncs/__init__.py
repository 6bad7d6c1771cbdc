"""Secret syncs: what people ask of them in `service`, what is done for them in the engine's modules."""
