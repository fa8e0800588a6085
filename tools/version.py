"""The version that a build of this checkout gets; hatchling asks for it, as pyproject.toml says.

A release is a commit that adds its line to releases.toml, and nothing else. All other commits are development versions
of the release that comes next, in the order of their times: pip takes the later one for newer. The time is that of the
commit, which a clone without history knows too; without git, or with changes that are not committed, it is now.
"""

from __future__ import annotations

import subprocess
import tomllib
from datetime import UTC, datetime
from pathlib import Path

from packaging.version import Version

ROOT = Path(__file__).parents[1]
FIRST = "0.1.0"


def version() -> str:
    """For example ``0.1.0``, or ``0.1.0.dev20261124093500+g4278a1f`` on the way there."""
    releases: dict[str, str] = tomllib.loads((ROOT / "releases.toml").read_text())
    newest = max(releases, key=Version, default=None)
    clean = _git("status", "--porcelain", "--untracked-files=no") == ""
    if newest is not None and clean and releases[newest] == _git("rev-parse", "--verify", "--quiet", "HEAD^"):
        return newest
    commit = _git("rev-parse", "--short=9", "HEAD")
    time = int(_git("show", "--no-patch", "--format=%ct") or 0) if clean else 0
    moment = datetime.fromtimestamp(time, UTC) if time else datetime.now(UTC)
    local = f"+g{commit}{'' if clean else '.changed'}" if commit else ""
    return f"{_next(newest)}.dev{moment:%Y%m%d%H%M%S}{local}"


def _next(release: str | None) -> str:
    if release is None:
        return FIRST
    major, minor, patch = Version(release).release
    return f"{major}.{minor}.{patch + 1}"


def _git(*words: str) -> str | None:
    """What git says of this folder; ``None`` if it is not there, or this is no checkout of its own."""
    if not (ROOT / ".git").exists():
        return None
    try:
        process = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    except FileNotFoundError:
        return None
    return process.stdout.strip() if process.returncode == 0 else None
