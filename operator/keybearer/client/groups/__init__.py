"""The client's methods by group, a module for each: it is loaded when a client first uses the group.

The same for both clients; `keybearer.client.resources` says how. Parameters are those of the operation that each
method names.
"""
