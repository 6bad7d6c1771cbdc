"""What the service decides: identities, authorization, projects, folders, secrets."""
