"""``manage.py replies``: hold replies in a file to their calls, show a tool's words, explain how a sentence is read."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import BaseCommand, CommandError

from agents.replies.cases import Case, case_of, checked_case, counted, row_of, setting_of
from agents.replies.explaining import explained, samples
from agents.replies.mending import Checked, Setting
from agents.replies.mutations import detections


class Command(BaseCommand):
    """The reply check on files, by hand (REPLIES, Cases)."""

    help = "Check replies against their calls, print a tool's words, or explain how a text is read."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take one of three actions with its file or tool."""
        actions = parser.add_subparsers(dest="action", required=True)
        check = actions.add_parser("check", help="one JSON object a line: calls, earlier, reply")
        check.add_argument("file", type=Path)
        check.add_argument("--mutate", action="store_true", help="print how many of each change are caught instead")
        words = actions.add_parser("words", help="the words that mean a tool, with sample readings")
        words.add_argument("tool")
        words.add_argument("--argument", action="append", default=[], metavar="NAME", help="a name of its arguments")
        explain = actions.add_parser("explain", help="how each sentence of a text is read")
        explain.add_argument("tool")
        explain.add_argument("text")
        for action in (check, words, explain):
            action.add_argument("--tools", type=Path, metavar="FILE", help="tools' words, in YAML or JSON")

    def handle(self, *_: Any, **options: Any) -> None:
        """Do the action.

        Raises:
            CommandError: a file cannot be read, or a row of it is none.
        """
        try:
            match options["action"]:
                case "check":
                    self._check(options)
                case "words":
                    self._print(samples(self._one(options), options["tool"]))
                case _:
                    self._print(explained(self._one(options), options["tool"], options["text"]))
        except (OSError, ValueError, yaml.YAMLError) as wrong:
            raise CommandError(str(wrong)) from wrong

    def _check(self, options: Any) -> None:
        cases = list(_cases(options["file"]))
        setting = setting_of(cases, _described(options["tools"]))
        if options["mutate"]:
            for found in detections(cases, setting):
                self.stdout.write(f"{found.kind:30} {found.caught:5} of {found.of:5}  {found.caught / found.of:7.2%}")
            return
        results: list[Checked] = []
        for case in cases:
            results.append(checked_case(case, setting))
            self.stdout.write(json.dumps(row_of(results[-1]), ensure_ascii=False))
        for name, count in counted(results).items():
            self.stderr.write(f"{count:6} {name}")

    def _one(self, options: Any) -> Setting:
        described = _described(options["tools"]) or {}
        named = {options["tool"]: {"args": options.get("argument", [])}}
        return setting_of([], described if options["tool"] in described else {**named, **described})

    def _print(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.stdout.write(line)


def _cases(path: Path) -> Iterator[Case]:
    with path.open(encoding="utf-8") as rows:
        for number, line in enumerate(rows, 1):
            if line.strip():
                try:
                    yield case_of(json.loads(line))
                except (ValueError, RecursionError) as wrong:
                    raise CommandError(f"{path}, line {number}: {wrong}") from wrong


def _described(path: Path | None) -> Any:
    return None if path is None else yaml.safe_load(path.read_text("utf-8"))
