"""Names of keys: how others rewrite them, as our rules for renaming and key schemas."""

from __future__ import annotations

import re

from pydantic import JsonValue

__all__ = ["rename_of_regexp", "rename_of_template", "schema_of_regexp", "search_pattern"]

_PATTERN_MAX = 256
_REFERENCE = re.compile(r"\$(?:\$|\{([A-Za-z0-9_]+)\}|([A-Za-z0-9_]+))")
_WHOLE = frozenset({".*", "(.*)", ".+", "(.+)", "^.*$", "^(.*)$"})
_SIMPLE_TEMPLATE = re.compile(r"([^{}]*)\{\{-?\s*\.value\s*-?\}\}([^{}]*)")
_KEY_CHARACTERS = re.compile(r"[A-Za-z0-9_/-]*")


def search_pattern(regexp: str) -> str | None:
    """Return a pattern of `include` that matches what a Go expression finds; None where it is too long."""
    if regexp in ("", ".*", "^.*$", ".+"):
        return "*"
    pattern = f"/{regexp}/"
    return pattern if len(pattern) <= _PATTERN_MAX else None


def rename_of_regexp(source: str, target: str) -> JsonValue:
    """Return a rule that renames as Go's ReplaceAll does; None where one rule can't.

    Ours matches the whole name, once. So only an expression that can match once will do: one that is anchored at
    either end, or that takes everything.
    """
    starts = source.startswith("^") or source in _WHOLE
    ends = _is_anchored_at_end(source) or source in _WHOLE
    if "|" in source or "(?" in source or not (starts or ends):
        return None
    bare = source.removeprefix("^")
    bare = bare.removesuffix("$") if _is_anchored_at_end(source) else bare
    groups = _count_groups(bare)
    before, after = ("" if starts else "(.*?)"), ("" if ends else "(.*)")
    replacement = _replacement(target, shift=1 if before else 0, groups=groups)
    if replacement is None:
        return None
    if before:
        replacement = r"\1" + replacement
    if after:
        if groups + 1 > 9:
            return None
        replacement += f"\\{groups + 1}"
    pattern = f"/^{before}{bare}{after}$/"
    if len(pattern) > _PATTERN_MAX or not replacement:
        return None
    return {"from": pattern, "to": replacement}


def rename_of_template(template: str) -> JsonValue:
    """Return a rule that renames as a template does that puts a text around each name; None for any other."""
    match = _SIMPLE_TEMPLATE.fullmatch(template.strip())
    if match is None:
        return None
    before, after = (part.replace("\\", "\\\\") for part in match.groups())
    return {"from": "/^.*$/", "to": f"{before}\\0{after}"}


def schema_of_regexp(source: str, target: str) -> str | None:
    """Return the key schema of a rewriting that only puts a text before names; None for any other."""
    if source in ("^", "^(.*)$", "(.*)", "^(.+)$", "(.+)"):
        before = target if source == "^" else None
        if before is None:
            for mark in ("$1", "${1}"):
                if target.endswith(mark):
                    before = target.removesuffix(mark)
        if before is not None and _KEY_CHARACTERS.fullmatch(before):
            return before + "{{secretKey}}"
    return None


def _is_anchored_at_end(source: str) -> bool:
    backslashes = len(source) - 1 - len(source[:-1].rstrip("\\")) if source.endswith("$") else 1
    return source.endswith("$") and backslashes % 2 == 0


def _count_groups(source: str) -> int:
    """Count the groups of an expression without `(?`; parentheses that are escaped or in a class are none."""
    count, is_escaped, in_class = 0, False, False
    for mark in source:
        if is_escaped:
            is_escaped = False
        elif mark == "\\":
            is_escaped = True
        elif mark == "[":
            in_class = True
        elif mark == "]":
            in_class = False
        elif mark == "(" and not in_class:
            count += 1
    return count


def _replacement(target: str, *, shift: int, groups: int) -> str | None:
    r"""Return a replacement of Go as ours: `$1` and `${1}` are `\1`; None where it names what there isn't."""
    pieces: list[str] = []
    position = 0
    for reference in _REFERENCE.finditer(target):
        pieces.append(target[position : reference.start()].replace("\\", "\\\\"))
        position = reference.end()
        name = reference[1] or reference[2]
        if name is None:
            pieces.append("$")
        elif not name.isdigit() or len(name) > 1 or int(name) > groups or int(name) + shift > 9:
            return None
        elif int(name) == 0:
            if shift:
                return None
            pieces.append("\\0")
        else:
            pieces.append(f"\\{int(name) + shift}")
    pieces.append(target[position:].replace("\\", "\\\\"))
    return "".join(pieces)
