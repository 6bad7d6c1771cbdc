"""Puts the repository on the path: `soak` is a package of programs there, not part of the distribution."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3]))
