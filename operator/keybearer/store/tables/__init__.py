"""Tables. Importing `keybearer.store.tables.schema` loads all of them."""
