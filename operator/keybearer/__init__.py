"""Keybearer: secrets and certificates for Kubernetes, and out to other stores.

As a library it is the client of the service: `keybearer.Keybearer` and `keybearer.AsyncKeybearer`; the rest
is in `keybearer.client`. Names are looked up when first used, so that `import keybearer` costs nothing;
`__init__.pyi` tells type checkers what they are. A plain import of the client would also tie it to every part
that asks for the version.
"""

from importlib import import_module

__all__ = ["AsyncKeybearer", "Keybearer", "__version__"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("keybearer")
    if name in {"AsyncKeybearer", "Keybearer"}:
        return getattr(import_module("keybearer.client"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
