"""Whether a message that was posted has been answered: what its terminal waits for. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Frame = Mapping[str, Any]

COMPLETED, PAUSED, PASSED_OVER, HELD, ENDED = "completed", "paused", "passed_over", "held", "ended"


@dataclass(slots=True)
class Waiting:
    """What became of a message, as far as its thread's log was read."""

    message: str
    turn: str = ""
    end: str = ""
    """How it ended, or "" while it has not: a completed or paused turn, one that ended otherwise, or no turn."""
    actions: list[str] = field(default_factory=list)
    """The pending actions of its turn."""

    def read(self, frame: Frame) -> None:
        """Read the next entry of the log."""
        data = frame["data"]
        match frame["event"]:
            case "turn_started" if self.message in data["took"]:
                self.turn = frame["turn"]
            case "message_taken" if self.message in data["messages"]:
                self.turn = frame["turn"]
            case "message_passed_over" | "message_cancelled" if data["message"] == self.message:
                self.end = PASSED_OVER
            case "message_held" if data["message"] == self.message:
                self.end = HELD
            case "action_asked" if self.turn and frame["turn"] == self.turn:
                self.actions.append(data["action"])
            case "turn_paused" if self.turn and frame["turn"] == self.turn:
                self.end = PAUSED
            case "turn_ended" if self.turn and data["turn"] == self.turn:
                self.end = COMPLETED if data["status"] == COMPLETED else ENDED
