"""The linter of our prose: Vale, with our rules for the pages that follow them."""
