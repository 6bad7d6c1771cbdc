"""The interface of the service, declared once: shapes, commands and a table of routes, with one module for each noun.

Server, client, documentation and tests are derived from it (docs/decisions/0066). What was not moved yet is in
`keybearer.wire`.
"""
