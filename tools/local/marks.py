"""The mark that secret values of runs and tests carry, so that output can be searched for them."""

from __future__ import annotations

__all__ = ["MARK", "find_mark"]

MARK = "cnry-"
"""Every secret value of a run or a test starts with this."""

_FORMS = (MARK, "Y25yeS", MARK.encode().hex())
"""As text, at the start of a base64 text (five bytes fill six characters but for four bits), and in hex."""

_CONTEXT = 60


def find_mark(text: str) -> str | None:
    """Return the surroundings of the first mark in the text, in any of its forms, or None."""
    for form in _FORMS:
        at = text.find(form)
        if at >= 0:
            return text[max(0, at - _CONTEXT) : at + _CONTEXT]
    return None
