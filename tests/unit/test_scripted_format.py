"""What a script file may say, and how a wrong one is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agents.providers.choose import DEMO
from agents.providers.errors import ScriptError
from agents.providers.script import load_script, parse_script

DOCUMENTED = re.findall(r"```yaml\n(.*?)```", Path("docs/scripted.md").read_text(encoding="utf-8"), re.DOTALL)


def step(text: str) -> str:
    return f"- when: x\n  steps:\n    - {text}\n"


@pytest.mark.parametrize("example", DOCUMENTED)
def test_every_example_of_the_documentation_is_a_script(example: str) -> None:
    assert parse_script(example).rules


def test_the_documentation_has_an_example_of_every_key() -> None:
    text = "".join(DOCUMENTED)
    for key in ("when", "steps", "pace_ms", "say", "calls", "tool", "args", "fail", "hang", "raw"):
        assert re.search(rf"\b{key}:", text), key


def test_the_demo_is_a_script() -> None:
    assert len(load_script(DEMO).rules) > 10


@pytest.mark.parametrize(
    "text",
    [
        step("say: hello"),
        step("{say: hello, calls: [{tool: t}]}"),
        step("{calls: [{tool: t, args: {a: [1, 2.5, true, null, {b: c}]}}]}"),
        step("fail: gone"),
        step("fail: {status: 503, message: gone}"),
        step("hang: 1"),
        step("hang: 0.5"),
        step("hang: true"),
        step("{hang: 2, say: late}"),
        step("{hang: true, say: never}"),
        step("raw: {tool: t, args: '{'}"),
        step("say: 'braces {{as text}}'"),
    ],
)
def test_each_kind_of_step_is_accepted(text: str) -> None:
    assert len(parse_script(text).rules[0].steps) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a script is a list of rules"),
        ("when: x", "a script is a list of rules"),
        ("[]", "a script is a list of rules"),
        ("- [", "line 1: this is not YAML"),
        ("- when: x\n  steps: [{say: a}]\n  bad: {", "this is not YAML"),
        ("\x00", "this is not YAML"),
        ("!!python/object:os.system x", "this is not YAML"),
        ("- when: x\n  when: y\n  steps: [{say: a}]", "line 2: .* the key `when` is written twice"),
        ("- when: x", "rule 1: `steps` is missing: add it"),
        ("- steps: [{say: a}]", "rule 1: `when` is missing: add it"),
        ("- when: ''\n  steps: [{say: a}]", "`when` must not be empty"),
        ("- when: x\n  steps: []", "line 2, rule 1: `steps` must have at least one entry"),
        ("- when: x\n  steps: {say: a}", "`steps` must be a list"),
        ("- when: x\n  paces: 5\n  steps: [{say: a}]", "line 2, rule 1: `paces` is not a key of the format"),
        ("- when: x\n  pace_ms: '5'\n  steps: [{say: a}]", "`pace_ms` must be a whole number"),
        ("- when: x\n  pace_ms: -1\n  steps: [{say: a}]", "`pace_ms` is wrong: .* greater than or equal to 0"),
        ("- when: (a\n  steps: [{say: a}]", "`when` is not a regular expression: missing \\)"),
        ("- just a text", "must be a mapping"),
        (step("say: 5"), "step 1: `say` must be text: put it in quotes"),
        (step("say: hi {who}"), "step 1 uses {who}, which is neither a named group"),
        (step("say: hi {result.tool}"), "step 1 uses {result.tool}"),
        (step("say: hi {}"), "step 1 uses {}"),
        (step("calls: [{tool: t, args: {a: [{b: '{who}'}]}}]"), "step 1 uses {who}"),
        (step("{}"), "a step is `say` and/or `calls`"),
        (step("{say: a, fail: b}"), "a step is `say` and/or `calls`"),
        (step("{raw: {tool: t, args: ''}, say: a}"), "a step is `say` and/or `calls`"),
        (step("{hang: 1, calls: [{tool: t}]}"), "a step is `say` and/or `calls`"),
        (step("say:"), "`say` is empty"),
        (step("calls: []"), "`calls` must have at least one entry"),
        (step("calls: [{args: {}}]"), "step 1, call 1: `tool` is missing"),
        (step("calls: [{tool: t, args: [1]}]"), "call 1: `args` must be a mapping"),
        (step("calls: [{tool: t, args: {day: 2030-01-01}}]"), "put anything else in quotes"),
        (step("calls: [{tool: t, args: {1: 2}}]"), "a key must be text"),
        (step("fail: {status: 200, message: a}"), "`status` is wrong: .* 400"),
        (step("fail: {status: 500}"), "`message` is missing"),
        (step("fail: ''"), "`message` must not be empty"),
        (step("hang: false"), "`hang` must be seconds"),
        (step("hang: 0"), "`hang` must be seconds"),
        (step("hang: .nan"), "`hang` must be seconds"),
        (step("hang: 4000"), "`hang` must be seconds"),
        (step("raw: {tool: t, args: {a: 1}}"), "`args` must be text"),
    ],
)
def test_a_wrong_script_is_refused_with_what_to_do(text: str, says: str) -> None:
    with pytest.raises(ScriptError, match=says):
        parse_script(text)


def test_an_error_names_the_file_the_line_and_the_rule() -> None:
    text = "- when: x\n  steps:\n    - say: a\n- when: y\n  steps:\n    - say: a\n    - say: b\n      shout: c\n"
    with pytest.raises(ScriptError) as refused:
        parse_script(text, file="tour.yaml")
    assert (refused.value.file, refused.value.line, refused.value.rule) == ("tour.yaml", 8, 2)
    assert str(refused.value) == (
        "tour.yaml, line 8, rule 2: step 2: `shout` is not a key of the format: remove it or correct its spelling."
    )


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="cannot be read"):
        load_script(tmp_path / "none.yaml")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "bytes.yaml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ScriptError, match="cannot be read"):
        load_script(file)
