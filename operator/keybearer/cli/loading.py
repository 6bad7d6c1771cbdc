"""What loading costs: modules that no one here needs, and the garbage collector of a process that runs for months."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec

__all__ = ["bare", "collector_at_rest", "spare_the_collector", "without"]


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Collect nothing meanwhile, nor look through what was made meanwhile later: modules make it to stay.

    Without the freeze the first allocation afterwards sets off a collection over all of it: 50 ms of CPU each time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def without(*modules: str) -> Iterator[None]:
    """Let libraries that are loaded meanwhile find these modules missing, which they may be; later they can be had.

    structlog loads what draws tracebacks in colours where that is installed, twice its own size; ours are plain.
    """
    hidden = [module for module in modules if module not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type] # None: in Python's words, can't be imported
    try:
        yield
    finally:
        for module in hidden:
            del sys.modules[module]


@contextmanager
def bare(*packages: str) -> Iterator[None]:
    """Let modules of these packages be loaded meanwhile, without all that the packages load by themselves.

    A package comes before those within it; whole, they can be had later. kubernetes loads its blocking client, and
    with it 300 modules of requests, OAuth and the like: a tenth of what the operator's start takes.
    """
    absent = [name for name in packages if name not in sys.modules]
    for name in absent:
        spec = find_spec(name)
        if spec is None:
            raise ModuleNotFoundError(name)
        sys.modules[name] = module_from_spec(spec)
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


def spare_the_collector() -> None:
    """Keep it off what lives as long as the process: a full collection looked through modules for 0.15 s."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
