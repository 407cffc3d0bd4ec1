"""Sentences of many trades, each a whole reply to one record: what is true of it stands, what is not does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from agents.replies.check import check
from agents.replies.mending import Setting
from agents.replies.record import record_of
from agents.replies.words import compile_words, tool_words

FILES = sorted((Path(__file__).parent / "replies_cases").glob("*.yaml"))


def scenes() -> Iterator[Any]:
    for file in FILES:
        for scene in yaml.safe_load(file.read_text("utf-8")):
            yield pytest.param(scene, id=f"{file.stem}: {scene['scene']}")


def setting_of(scene: dict[str, Any]) -> Setting:
    calls = [*scene["calls"], *scene.get("earlier", [])]
    called = [tool_words(call["name"], call["args"], {"effect": call["effect"]}) for call in calls]
    return Setting(compile_words([*called, *(tool_words(name) for name in scene.get("tools", []))]))


@pytest.mark.parametrize("scene", list(scenes()))
def test_what_is_true_of_the_record_stands_and_what_is_not_gives_way(scene: dict[str, Any]) -> None:
    record, setting = record_of({**scene, "reply": ""}), setting_of(scene)
    shown = {said: check(said, record, setting).text for said in [*scene["kept"], *scene["replaced"]]}
    assert [said for said in scene["kept"] if said.strip() not in shown[said]] == []
    assert [said for said in scene["replaced"] if said.strip() in shown[said]] == []
