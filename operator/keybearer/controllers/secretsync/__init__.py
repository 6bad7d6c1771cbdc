"""SecretSync: gather what is, plan what to do, apply it, write status once."""
