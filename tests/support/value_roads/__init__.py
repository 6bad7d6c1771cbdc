"""The roads that may lead to a value of a secret: who walks them, over which routes, and what comes of it."""
