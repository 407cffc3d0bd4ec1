"""Other versions of Accord's source, to run beside this one: the next, made by editing a copy, and an earlier one."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from pathlib import Path

from tests.support.server import ROOT

PARTS = ("permissions", "collab", "agents", "templates", "manage.py")

NOTED = """
@dataclass(frozen=True, slots=True)
class ThreadNoted:
    type: ClassVar[str] = "thread_noted"
    note: str

"""
CHANGED = "\n\n\n@dataclass(frozen=True, slots=True)\nclass ModeChanged:"
RENAMED = '            _appended(locked, ThreadChanged("title"), actor, decision)\n'
RINGS = "    _post_on_commit(thread_group(thread_id), message)\n"
WEATHER = """    _post_on_commit(thread_group(thread_id), {"type": "weather", "thread": thread_id.hex})
    _post_on_commit(HUBS, {"type": "weather"})
    _post_on_commit(RUNNERS, {"type": "weather"})
"""

NEXT: tuple[tuple[str, str, str], ...] = (
    # An event of a type that this version does not know, and one of a known type with a field that it does not.
    ("collab/events.py", NOTED, "\nFact = (\n"),
    ("collab/events.py", "    ThreadNoted\n    | ", "    ThreadCreated\n    | ThreadChanged\n"),
    ("collab/events.py", '\n    why: str = "asked"', CHANGED),
    ("collab/services/threads.py", "ThreadNoted, ", "FocusChanged, ModeChanged"),
    ("collab/services/threads.py", '            _appended(locked, ThreadNoted("renamed"), actor, decision)\n', RENAMED),
    # Frames and items with more in them.
    ("collab/web/frames.py", '        "next": True,\n', '        "seq": row.seq,\n'),
    ("collab/web/items.py", '            "pinned": False,\n', '            "item": "thread",\n'),
    ("agents/turns/live.py", '"next": True, ', '"offset": offset,'),
    # More that processes tell each other.
    ("collab/doorbell.py", WEATHER, RINGS),
    # Columns that this version does not write.
    ("collab/models/threads.py", "    pinned_at = models.DateTimeField(null=True)\n", "    head_seq = "),
    ("collab/models/threads.py", "    language = models.TextField(null=True)\n", "    interrupted = "),
    ("agents/models/turns.py", "    tier = models.TextField(null=True)\n", "    attempt = "),
)
"""What the next version has more than this one: in which file, what, and before what."""

BEFORE = "Room for accepting with edits, delegations in time and shared calls"
"""The commit whose parent is the earlier version."""


def next_version(folder: Path) -> Path:
    """Make the next version in a folder that is not there yet: this one, which does, sends and stores more."""
    for part in PARTS:
        source, copy = ROOT / part, folder / part
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy)
    for name, more, place in NEXT:
        file = folder / name
        text = file.read_text()
        assert place in text, f"{name} has no {place!r} to put what the next version has before"
        file.write_text(text.replace(place, more + place, 1))
    return folder


def earlier_version(folder: Path) -> Path | None:
    """Write an earlier version out of the history into a folder; None where the history is not there."""
    git = shutil.which("git")
    if git is None:
        return None
    found = _asked(git, "log", "--format=%H", "--max-count=1", "--fixed-strings", f"--grep={BEFORE}")
    archive = _asked(git, "archive", f"{found.decode().strip()}~1", *PARTS) if found else None
    if not archive:
        return None
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder


def _asked(git: str, *arguments: str) -> bytes | None:
    done = subprocess.run([git, *arguments], cwd=ROOT, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None
