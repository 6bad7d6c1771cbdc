r"""The form of a secret's name, as patterns that a description of the interface can carry.

A name may be in any language. What new ones may not hold forges lines and columns where names are shown, or variables
where they are exported. Spelt out: what `\s` means differs between those who read the description.
"""

from __future__ import annotations

__all__ = ["JS_WHITE", "NAME_PATTERN", "NEW_NAME_PATTERN", "NEW_NAME_SIGNS"]

JS_WHITE = r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What JavaScript's `trim` takes away, which the published service uses; Python's set is another one."""
_CONTROL = r"\u0000-\u001f\u007f-\u009f"
_OTHER_SPACES = r"\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_UNSEEN = r"\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
_REFUSED = f":/={_CONTROL}{_OTHER_SPACES}{_UNSEEN}"

NAME_PATTERN = rf"^[^:/\u0000]*[^:/\u0000{JS_WHITE}][^:/\u0000]*$"
"""Of a secret that may be there already."""
NEW_NAME_SIGNS = f"[^{_REFUSED}]+"
"""Of the name of a new one, once white space around it was taken away."""
NEW_NAME_PATTERN = f"^[{JS_WHITE}]*[^{_REFUSED} ]([^{_REFUSED}]*[^{_REFUSED} ])?[{JS_WHITE}]*$"
"""Of a new one."""
