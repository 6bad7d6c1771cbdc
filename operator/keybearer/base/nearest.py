"""Suggests a known word for one that is not known. Pure."""

from __future__ import annotations

import difflib
import heapq
from collections.abc import Iterable

__all__ = ["did_you_mean"]

_COMPARED_MAX = 512
"""Words that are compared."""
_WORK_MAX = 30_000
"""Pairs of characters that are compared: 5 to 15 ms, as difflib takes up to half a microsecond for each."""
_LIKENESS = 0.6


def did_you_mean(written: str, words: Iterable[str]) -> str:
    """Return the end of a sentence that names the most similar word; empty if none is similar.

    Upper and lower case count as the same, and so do `_`, `-` and a space. Of many or long words, only those whose
    length is closest to that of the written one are compared.
    """
    form = _form(written)
    room = _WORK_MAX // max(1, len(form))
    by_form: dict[str, str] = {}
    for word in heapq.nsmallest(_COMPARED_MAX, words, key=lambda one: (abs(len(one) - len(written)), one)):
        room -= len(word)
        if room < 0:
            break
        by_form.setdefault(_form(word), word)
    near = difflib.get_close_matches(form, by_form, n=1, cutoff=_LIKENESS)
    return f"; did you mean {by_form[near[0]]}?" if near else ""


def _form(word: str) -> str:
    return word.casefold().replace("_", "-").replace(" ", "-")
