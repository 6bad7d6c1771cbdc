"""Secrets in YAML; apart from the other forms, for its library takes other commands longer to start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import yaml

from keybearer.base.errors import ConfigurationError
from keybearer.cli.secret_files import no_text

__all__ = ["read_yaml", "write_yaml"]


_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
"""How the core schema of YAML 1.2 writes null (section 10.3.2), where nothing is quoted."""


def read_yaml(text: str) -> Iterable[tuple[str, str]]:
    """Yield names and values of one mapping.

    Raises:
        ConfigurationError: it is none, or a value is a null, a list or a mapping.
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
            if not isinstance(key, yaml.ScalarNode):
                raise ConfigurationError(f"line {line}: a list or a mapping can't be the name of a secret")
            name = f"line {line}: {key.value!r}"
            match value:
                case yaml.ScalarNode(style=None, value=plain) if plain in _NULLS:
                    raise no_text(name, "null")
                case yaml.ScalarNode(value=plain):
                    yield key.value, plain
                case yaml.SequenceNode():
                    raise no_text(name, "a list")
                case _:
                    raise no_text(name, "a mapping")
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
