"""Peers in virtual environments of their own, outside the tree, so that they share no package with Accord."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PEERS = {
    "artifactr": ("artifactr-ai[fastapi,sqlite,postgres]==0.2.1", "grantr[sql]==0.1.0", "uvicorn", "websockets"),
    "chainlit": ("chainlit==2.12.*",),
}
NEWEST_FIRST = ("3.13", "3.12")
INSTALL_SECONDS = 600


class NotMeasured(Exception):
    """A peer that cannot be run here; the text says why."""


def python_of(peer: str) -> Path:
    """Return the Python of a peer's environment, made now when there is none.

    Raises:
        NotMeasured: there is no Python that it runs on, or it cannot be installed.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "accord-bench" / peer
    python = home / "bin" / "python"
    complete = home / "complete"
    if not complete.exists():
        uv = Path(sys.executable).parent / "uv"
        _run(str(uv), "venv", "--quiet", "--allow-existing", "--python", _interpreter(), str(home))
        _run(str(uv), "pip", "install", "--quiet", "--python", str(python), *PEERS[peer])
        complete.touch()
    return python


def _interpreter() -> str:
    """Return a Python of 3.12 or newer: one on the path, else one that pyenv keeps."""
    for minor in NEWEST_FIRST:
        kept = sorted(Path.home().glob(f".pyenv/versions/{minor}.*/bin/python3"))
        if found := shutil.which(f"python{minor}") or (str(kept[-1]) if kept else None):
            answers = subprocess.run([found, "--version"], capture_output=True, check=False).returncode == 0
            if answers:
                return found
    raise NotMeasured("no Python 3.12 or newer on this machine")


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    if done.returncode:
        raise NotMeasured(f"it could not be installed: {done.stderr.strip().splitlines()[-1:]}")
