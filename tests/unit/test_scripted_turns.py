"""How a script answers a turn: which step is next, and how it is streamed."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import BaseModel
from pydantic_ai.exceptions import ModelHTTPError, ModelRequestRejectedError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextContent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from structlog.testing import capture_logs

from agents.providers.errors import ScriptError
from agents.providers.lineage import next_cue
from agents.providers.script import NO_ANSWER, NOTHING_LEFT, Script, parse_script
from agents.providers.scripted import ScriptedModel, ScriptFile
from agents.providers.template import render_text

SCRIPT = parse_script("""
- when: 'three (?P<what>\\w+)'
  steps:
    - {say: "first {what}", calls: [{tool: look}]}
    - {say: "second {what}", calls: [{tool: look}]}
    - {say: "third {what}"}
- when: 'read'
  steps:
    - calls: [{tool: read_document, args: {document: Launch plan}}]
    - say: "version {result.read_document.version}"
- when: 'one'
  steps: [{say: only}]
""")
PARAMETERS = ModelRequestParameters()


class Read(BaseModel):
    version: int


def posted(*texts: str) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(text) for text in texts], metadata={"input": True})


def history(text: str) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(text)])


def returned(content: object, tool: str = "read_document") -> ModelRequest:
    return ModelRequest(parts=[ToolReturnPart(tool_name=tool, content=content, tool_call_id="c")])


def response(text: str = "…") -> ModelResponse:
    return ModelResponse(parts=[TextPart(text)])


def said(messages: Sequence[ModelMessage], script: Script = SCRIPT) -> str:
    cue = next_cue(script, messages)
    return "\n\n".join(render_text(line.step.say or "", cue.values(line)) for line in cue.lines)


def model_of(tmp_path: Path, text: str) -> ScriptedModel:
    file = tmp_path / "script.yaml"
    file.write_text(text, encoding="utf-8")
    return ScriptedModel(ScriptFile(file))


def test_each_response_uses_up_one_step() -> None:
    messages: list[ModelMessage] = [posted("Ana: three wishes")]
    for expected in ("first wishes", "second wishes", "third wishes"):
        assert said(messages) == expected
        messages.append(response())


def test_the_first_rule_in_the_file_that_matches_answers() -> None:
    assert said([posted("Ana: one of three wishes")]) == "first wishes"


def test_case_does_not_matter_and_a_dot_matches_a_line_break() -> None:
    script = parse_script("- when: 'begin(?P<rest>.*)end'\n  steps: [{say: '{rest}'}]")
    assert said([posted("Ana: BEGIN\nEND")], script) == "\n"


def test_inputs_are_answered_in_order_each_by_all_its_steps() -> None:
    messages: list[ModelMessage] = [posted("Ana: three wishes", "Ana: one")]
    spoken = []
    for _ in range(3):
        spoken.append(said(messages))
        messages.append(response())
    assert spoken == ["first wishes", "second wishes", "third wishes\n\nonly"]


def test_a_step_without_calls_runs_on_since_it_would_end_the_turn_with_things_left_to_say() -> None:
    script = parse_script("- when: go\n  steps: [{say: one}, {say: two, calls: [{tool: look}]}, {say: three}]")
    messages: list[ModelMessage] = [posted("go"), response()]
    assert said(messages[:1], script) == "one\n\ntwo"
    assert said(messages, script) == "three"


def test_an_input_that_joins_midway_waits_for_the_steps_before_it() -> None:
    messages: list[ModelMessage] = [posted("Ana: three wishes"), response(), posted("Ana: one")]
    assert said(messages) == "second wishes"
    assert said([*messages, response()]) == "third wishes\n\nonly"


def test_an_input_without_a_rule_gets_the_fixed_sentence_once() -> None:
    messages: list[ModelMessage] = [posted("Ana: nonsense", "Ana: one")]
    assert said(messages) == f"{NO_ANSWER}\n\nonly"
    assert said([*messages, response()]) == NOTHING_LEFT


def test_a_model_asked_again_after_everything_says_that_is_all() -> None:
    messages: list[ModelMessage] = [posted("Ana: one"), response()]
    assert said(messages) == NOTHING_LEFT
    assert said([*messages, response()]) == NOTHING_LEFT


def test_a_superfluous_response_does_not_use_up_a_later_inputs_step() -> None:
    assert said([posted("Ana: one"), response(), response(), posted("Ana: three wishes")]) == "first wishes"


def test_history_before_the_first_input_counts_for_nothing() -> None:
    before: list[ModelMessage] = [history("Ana: three wishes"), response(), returned({"version": 1}), response()]
    assert said([*before, posted("Ana: three wishes")]) == "first wishes"
    assert said([*before, posted("Ana: read"), response()]) == "version {result.read_document.version: not available}"


def test_a_request_that_is_no_input_is_answered_by_nothing() -> None:
    assert said([posted("Ana: one"), history("note: three wishes"), response()]) == NOTHING_LEFT
    assert said([history("Ana: one")]) == NOTHING_LEFT


@pytest.mark.parametrize("content", [{"version": 3}, '{"version": 3}', Read(version=3)])
def test_a_result_may_come_as_a_mapping_as_json_or_as_a_model(content: object) -> None:
    assert said([posted("Ana: read"), response(), returned(content)]) == "version 3"


def test_a_result_in_plain_words_has_no_fields() -> None:
    messages: list[ModelMessage] = [
        posted("Ana: read"),
        response(),
        returned("refused: Vera may only view Launch plan"),
    ]
    assert said(messages) == "version {result.read_document.version: not available}"


def test_the_latest_result_of_a_tool_counts() -> None:
    assert said([posted("Ana: read"), response(), returned({"version": 3}), returned({"version": 4})]) == "version 4"


def test_a_turn_may_go_on_in_another_process_from_its_messages_alone() -> None:
    messages: list[ModelMessage] = [posted("Ana: read"), response(), returned({"version": 3})]
    again = parse_script("- when: read\n  steps: [{calls: [{tool: a}]}, {say: 'still {result.read_document.version}'}]")
    assert said(messages, again) == "still 3"


def test_an_input_of_several_pieces_is_matched_as_one() -> None:
    message = ModelRequest(parts=[UserPromptPart(["three", TextContent("wishes")])], metadata={"input": True})
    script = parse_script("- when: 'three\\nwishes'\n  steps: [{say: together}]")
    assert said([message], script) == "together"


async def test_text_is_streamed_word_by_word(tmp_path: Path) -> None:
    model = model_of(tmp_path, '- when: go\n  pace_ms: 1\n  steps: [{say: "one  two\\nthree"}]')
    pieces = []
    async with model.request_stream([posted("Ana: go")], None, PARAMETERS) as stream:
        async for event in stream:
            match event:
                case (
                    PartStartEvent(part=TextPart(content=text))
                    | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
                ):
                    pieces.append(text)
    whole = stream.get()
    assert pieces == ["one  ", "two\n", "three"]
    assert (whole.text, whole.finish_reason, whole.state) == ("one  two\nthree", "stop", "complete")
    assert (whole.usage.input_tokens, whole.usage.output_tokens) == (2, 3)


async def test_the_pace_is_the_time_between_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def waited(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", waited)
    model = model_of(tmp_path, "- when: go\n  pace_ms: 60\n  steps: [{say: one two three}]")
    await model.request([posted("Ana: go")], None, PARAMETERS)
    assert waits == [0.06, 0.06]


async def test_words_and_calls_come_in_one_response_with_an_id_for_each_call(tmp_path: Path) -> None:
    model = model_of(
        tmp_path,
        """
- when: 'go (?P<what>\\w+)'
  steps:
    - say: Working on it.
      calls:
        - {tool: read_document, args: {document: "{what}", depth: 2}}
        - {tool: list_documents}
""",
    )
    whole = await model.request([posted("Ana: go far")], None, PARAMETERS)
    text, first, second = whole.parts
    assert isinstance(text, TextPart)
    assert isinstance(first, ToolCallPart)
    assert isinstance(second, ToolCallPart)
    assert text.content == "Working on it."
    assert (first.tool_name, first.args_as_dict()) == ("read_document", {"document": "far", "depth": 2})
    assert (second.tool_name, second.args_as_dict()) == ("list_documents", {})
    assert first.tool_call_id != second.tool_call_id
    assert whole.finish_reason == "tool_call"


async def test_raw_arguments_are_sent_as_they_are_written(tmp_path: Path) -> None:
    model = model_of(tmp_path, "- when: go\n  steps: [{raw: {tool: edit_document, args: '{\"a\": {what}'}}]")
    (call,) = (await model.request([posted("Ana: go")], None, PARAMETERS)).parts
    assert isinstance(call, ToolCallPart)
    assert (call.tool_name, call.args) == ("edit_document", '{"a": {what}')


async def test_a_step_that_fails_fails_again_when_it_is_asked_again(tmp_path: Path) -> None:
    model = model_of(tmp_path, "- when: go\n  steps: [{fail: {status: 503, message: down}}, {say: up}]")
    for _ in range(2):
        with pytest.raises(ModelHTTPError) as failed:
            await model.request([posted("Ana: go")], None, PARAMETERS)
        assert failed.value.status_code == 503


async def test_a_failure_in_words_is_a_refusal_by_the_provider(tmp_path: Path) -> None:
    model = model_of(tmp_path, "- when: go\n  steps: [{fail: out of order}]")
    with pytest.raises(ModelRequestRejectedError, match="out of order"):
        await model.request([posted("Ana: go")], None, PARAMETERS)


async def test_a_step_that_hangs_for_a_time_speaks_afterwards(tmp_path: Path) -> None:
    model = model_of(tmp_path, "- when: go\n  steps: [{hang: 0.01, say: late}]\n- when: wait\n  steps: [{hang: 0.01}]")
    late = await model.request([posted("go")], None, PARAMETERS)
    nothing = await model.request([posted("wait")], None, PARAMETERS)
    assert (late.text, list(nothing.parts)) == ("late", [])


async def test_a_step_that_hangs_for_good_ends_when_it_is_cancelled(tmp_path: Path) -> None:
    model = model_of(tmp_path, "- when: go\n  steps: [{hang: true}]")
    asked = asyncio.create_task(model.request([posted("Ana: go")], None, PARAMETERS))
    await asyncio.sleep(0.02)
    assert not asked.done()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked


async def test_a_script_that_changed_is_read_again(tmp_path: Path) -> None:
    model = model_of(tmp_path, "- when: go\n  steps: [{say: before}]")
    (tmp_path / "script.yaml").write_text("- when: go\n  steps: [{say: afterwards}]", encoding="utf-8")
    assert (await model.request([posted("Ana: go")], None, PARAMETERS)).text == "afterwards"


async def test_a_script_that_became_bad_leaves_the_last_good_one_and_is_logged_once(tmp_path: Path) -> None:
    model = model_of(tmp_path, "- when: go\n  steps: [{say: good}]")
    (tmp_path / "script.yaml").write_text("- when: go", encoding="utf-8")
    with capture_logs() as logs:
        for _ in range(2):
            assert (await model.request([posted("Ana: go")], None, PARAMETERS)).text == "good"
    assert [(entry["event"], entry["log_level"]) for entry in logs] == [("script_not_reloaded", "error")]
    assert "`steps` is missing" in logs[0]["reason"]


async def test_a_script_that_was_deleted_and_comes_back_is_read_again(tmp_path: Path) -> None:
    model = model_of(tmp_path, "- when: go\n  steps: [{say: good}]")
    file = tmp_path / "script.yaml"
    file.unlink()
    with capture_logs():
        assert (await model.request([posted("Ana: go")], None, PARAMETERS)).text == "good"
    file.write_text("- when: go\n  steps: [{say: back}]", encoding="utf-8")
    assert (await model.request([posted("Ana: go")], None, PARAMETERS)).text == "back"


async def test_a_change_of_the_same_size_is_seen_by_its_time(tmp_path: Path) -> None:
    model = model_of(tmp_path, "- when: go\n  steps: [{say: aaaa}]")
    file = tmp_path / "script.yaml"
    file.write_text("- when: go\n  steps: [{say: bbbb}]", encoding="utf-8")
    os.utime(file, ns=(0, file.stat().st_mtime_ns + 1_000_000))
    assert (await model.request([posted("Ana: go")], None, PARAMETERS)).text == "bbbb"


def test_a_bad_script_refuses_to_start(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="a script is a list of rules"):
        model_of(tmp_path, "hello")


async def test_the_arguments_of_a_call_are_json(tmp_path: Path) -> None:
    model = model_of(tmp_path, "- when: go\n  steps: [{calls: [{tool: t, args: {a: 'ü \"', b: null}}]}]")
    (call,) = (await model.request([posted("Ana: go")], None, PARAMETERS)).parts
    assert isinstance(call, ToolCallPart)
    assert isinstance(call.args, str)
    assert json.loads(call.args) == {"a": 'ü "', "b": None}
