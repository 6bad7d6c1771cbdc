"""Secrets in YAML; apart from the other forms, for its library takes other commands longer to start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import yaml

from keybearer.base.errors import ConfigurationError

__all__ = ["read_yaml", "write_yaml"]


def read_yaml(text: str) -> Iterable[tuple[str, str]]:
    """Yield names and values of one mapping.

    Raises:
        ConfigurationError: it is none, or a value is no text.
    """
    try:
        # The base loader takes scalars for text as it stands, and makes no objects.
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = "the file is no YAML" + (f": line {mark.line + 1}" if mark is not None else "")
    else:
        if root is None:
            return
        if not isinstance(root, yaml.MappingNode):
            raise ConfigurationError("the file must hold one mapping of names to texts")
        for key, value in root.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or not isinstance(value, yaml.ScalarNode):
                raise ConfigurationError(f"line {line} is no NAME: text; lists and mappings are no values")
            yield key.value, value.value
        return
    raise ConfigurationError(problem)


class _TextDumper(yaml.SafeDumper):
    """Writes texts so that they are read as they were."""


def _represent_text(dumper: _TextDumper, text: str) -> yaml.ScalarNode:
    if all(char.isprintable() for char in text):
        style = None
    elif all(char.isprintable() or char == "\n" for char in text):
        style = "|"
    else:
        style = '"'  # the only one with escapes; in others PyYAML folds some line ends into spaces
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_TextDumper.add_representer(str, _represent_text)


def write_yaml(secrets: Mapping[str, str]) -> str:
    """Return one mapping that reads as these secrets."""
    return yaml.dump(
        dict(secrets), Dumper=_TextDumper, sort_keys=False, allow_unicode=True, width=float("inf")
    )
