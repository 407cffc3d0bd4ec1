"""What a terminal shows of a thread: coloured lines, of which no character of what others wrote is a command to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.text import Text

from collab.text import visible

HUES = ("bright_black", "blue", "magenta", "cyan", "yellow", "green", "red")
"""The colours of actors, by their hue; 0 is who has none."""

OUTCOMES = {
    "done": ("✓", "green"),
    "failed": ("✗", "red"),
    "refused": ("✗", "red"),
    "pending_confirmation": ("…", "yellow"),
    "unknown": ("?", "yellow"),
    "undone": ("↶", "yellow"),
    "not_attempted": ("–", "bright_black"),
}
BEFORE, AFTER = ("- ", "red", "ins"), ("+ ", "green", "del")
"""What stands before a line as it was and as it would be, its colour, and the pieces that are no part of it."""

SIGNS = {"add": (AFTER,), "del": (BEFORE,), "change": (BEFORE, AFTER)}

Item = Mapping[str, Any]
Lines = list[Text]


def plain(text: object) -> str:
    """Return a text in which every character that could move the cursor, or hide, is written out."""
    return "\n".join(visible(line) for line in str(text).replace("\t", "    ").split("\n"))


def who(actor: Item | None) -> Text:
    """Return an actor's name and whom they act for, in their colour."""
    if actor is None:
        return Text("someone", "bold")
    name = Text(plain(actor["name"]), f"bold {HUES[int(actor.get('hue') or 0) % len(HUES)]}")
    return name if actor.get("for") is None else Text.assemble(name, (" for ", "dim"), who(actor["for"]))


def lines_of(frame: Item) -> Lines:
    """Return what is shown of one entry of a log."""
    by_kind = {item["item"]: item for item in reversed(frame["items"])}
    shows = SHOWS.get(frame["event"])
    if shows is None:
        return [Text.assemble(who(frame["actor"]), (f" {frame['event'].replace('_', ' ')}", "dim"))]
    name, show = shows
    found = by_kind.get(name)
    return show(frame, found) if found is not None else []


def message(item: Item) -> Lines:
    """Return a message as it was posted."""
    head = Text.assemble(who(item["author"]), (f"  {item['at'][11:16]}", "dim"))
    if item["kind"] != "message":
        head.append(f"  {plain(item['kind'])}", "dim")
    return [head, Text("\n".join(f"  {line}" for line in plain(item["text"]).split("\n")))]


def proposal(item: Item) -> Lines:
    """Return a proposal with what it changes."""
    gist = f": {plain(item['gist'])}" if item["gist"] else ""
    head = Text.assemble(
        who(item["proposer"]), (f" proposes to {plain(item['change'])} ", "dim"), (plain(item["title"]), "bold"), gist
    )
    shown = [head, Text(f"  {item['id']}  {item['state']}", "dim")]
    if item["rationale"]:
        shown.append(Text(f"  {plain(item['rationale'])}", "italic"))
    return shown + [shown_line for line in item["diff"] or () for shown_line in _difference(line)]


def live(text: str) -> str:
    """Return the end of a text that streams, on one line."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= 70 else f"…{line[-69:]}"


def _difference(line: Item) -> Lines:
    if line["op"] == "gap":
        return [Text(f"      … {line['skipped']} lines", "bright_black")]
    return [_side(line, *side) for side in SIGNS.get(line["op"], (("  ", "", "del"),))]


def _side(line: Item, sign: str, style: str, without: str) -> Text:
    found = Text(f"    {sign}", style)
    for mark, part in line["spans"]:
        if mark != without:
            found.append(plain(part), style if mark == "same" else f"bold {style}")
    return found


def _posted(_: Item, item: Item) -> Lines:
    return message(item)


def _passed(_: Item, item: Item) -> Lines:
    said = plain(item["because"] or item["state"])
    return [Text.assemble(("✗ ", "red"), who(item["author"]), (f": message {item['seq']}: {said}", "dim"))]


def _started(_: Item, item: Item) -> Lines:
    return [Text.assemble((f"T{item['number']} ", "dim"), who(item["agent"]), (" works", "dim"))]


def _called(_: Item, item: Item) -> Lines:
    sign, style = OUTCOMES.get(item["outcome"] or "unknown", ("?", "yellow"))
    told = plain(item["because"] or item["brief"] or "")
    return [Text.assemble((f"  {sign} ", style), plain(item["label"]), (f": {told}" if told else "", "dim"))]


def _ended(_: Item, item: Item) -> Lines:
    style = "dim" if item["status"] in {"completed", "paused"} else "red"
    told = f": {plain(item['because'])}" if item["because"] else ""
    return [Text(f"T{item['number']} {plain(item['status'])}{told}", style)]


def question(_: Item, item: Item) -> Lines:
    """Return a question, with its choices or its answer."""
    shown = [Text.assemble(("? ", "yellow"), plain(item["text"]))]
    if item["answer"]:
        return [*shown, Text.assemble("  ", who(item["answered_by"]), f": {plain(item['answer'])}")]
    return [*shown, *(Text(f"  - {plain(choice)}") for choice in item["choices"] or ())]


def action(_: Item, item: Item) -> Lines:
    """Return a pending action: whom it waits for, or what became of it."""
    if item["state"] == "open":
        waits = Text.assemble(("  waits for ", "dim"), who(item["for"]), (f" until {item['expires_at'][11:16]}", "dim"))
        return [Text.assemble((f"A{item['number']} ", "yellow"), plain(item["text"])), waits]
    return [Text(f"A{item['number']} {plain(item['state'])}", "yellow")]


def _proposed(_: Item, item: Item) -> Lines:
    return proposal(item)


def _resolved(_: Item, item: Item) -> Lines:
    reason = f": {plain(item['reason'])}" if item["reason"] else ""
    done = Text(f" {plain(item['state'])} the proposal for {plain(item['title'])}{reason}", "dim")
    return [Text.assemble(who(item["resolver"]), done)]


def _written(frame: Item, item: Item) -> Lines:
    did = {"document_created": "made", "document_archived": "put away"}.get(frame["event"], "changed")
    title = Text.assemble((plain(item["title"]), "bold"), (f" (version {item['version']})", "dim"))
    return [Text.assemble(who(frame["actor"]), f" {did} ", title)]


SHOWS: Mapping[str, tuple[str, Callable[[Item, Item], Lines]]] = {
    "message_posted": ("message", _posted),
    "message_passed_over": ("message", _passed),
    "message_cancelled": ("message", _passed),
    "message_held": ("message", _passed),
    "turn_started": ("turn", _started),
    "turn_paused": ("question", question),
    "turn_ended": ("turn", _ended),
    "question_answered": ("question", question),
    "call_started": ("", lambda frame, item: []),
    "call_ended": ("call", _called),
    "action_asked": ("action", action),
    "action_resolved": ("action", action),
    "proposal_created": ("proposal", _proposed),
    "proposal_resolved": ("proposal", _resolved),
    "document_created": ("document", _written),
    "document_changed": ("document", _written),
    "document_archived": ("document", _written),
}
"""What is shown of an event, and of which of its items; an event without such an item shows nothing."""
