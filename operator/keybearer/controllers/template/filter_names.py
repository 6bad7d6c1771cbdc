"""The names of the filters that templates have, for modules that don't load Jinja2."""

from __future__ import annotations

__all__ = ["FILTER_NAMES", "OWN_FILTERS", "TAKEN_FILTERS"]

TAKEN_FILTERS = (
    *("capitalize", "format", "indent", "lower", "replace", "string", "title", "trim", "truncate", "upper"),
    *(
        "batch",
        "count",
        "first",
        "groupby",
        "join",
        "last",
        "length",
        "list",
        "map",
        "reverse",
        "slice",
        "sort",
    ),
    *("dictsort", "items", "reject", "rejectattr", "select", "selectattr", "unique"),
    *("abs", "float", "int", "max", "min", "round", "sum"),
    *("d", "default"),
)
"""Those of Jinja2 itself."""
OWN_FILTERS = (
    "b64decode",
    "b64encode",
    "fromjson",
    "fromyaml",
    "pem_blocks",
    "quote",
    "sha256",
    "tojson",
    "toyaml",
    "urlencode",
)
"""Those that Keybearer adds, or does its own way."""
FILTER_NAMES = (*TAKEN_FILTERS, *OWN_FILTERS)
