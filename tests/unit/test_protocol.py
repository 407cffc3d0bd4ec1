"""The documentation of the socket protocol is held against its models."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from collab import protocol
from collab.protocol import CLIENT_FRAME, SERVER_FRAME, Close

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
EXAMPLES: list[dict[str, Any]] = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


def types_of(frames: Any) -> set[str]:
    union = get_args(frames)[0]
    return {get_args(model.model_fields["type"].annotation)[0] for model in get_args(union)}


CLIENT_TYPES = types_of(protocol.ClientFrame)
SERVER_TYPES = types_of(protocol.ServerFrame)


@pytest.mark.parametrize("example", EXAMPLES, ids=[example["type"] for example in EXAMPLES])
def test_every_example_is_a_frame(example: dict[str, Any]) -> None:
    frames = CLIENT_FRAME if example["type"] in CLIENT_TYPES else SERVER_FRAME
    frame = frames.validate_python(example)
    assert frame.model_dump(mode="json", by_alias=True, exclude_unset=True) == example


def test_every_frame_has_an_example() -> None:
    assert {example["type"] for example in EXAMPLES} == CLIENT_TYPES | SERVER_TYPES


def test_every_close_code_is_documented_with_a_sentence() -> None:
    codes = {value for name, value in vars(Close).items() if isinstance(value, int)}
    assert codes == set(Close.SENTENCES)
    assert all(f"| {code} |" in PAGE for code in codes)


def test_a_frame_is_closed() -> None:
    with pytest.raises(ValidationError):
        CLIENT_FRAME.validate_python({"type": "ping", "more": 1})
