"""From a configured name to a model."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from django.test import override_settings
from pydantic_ai.models.openai import OpenAIChatModel

from agents.providers.choose import model_for
from agents.providers.errors import ModelConfigError, ScriptError
from agents.providers.scripted import ScriptedModel


def test_scripted_is_the_demo() -> None:
    model = model_for("scripted")
    assert isinstance(model, ScriptedModel)
    assert (model.model_name, model.system) == ("demo.yaml", "scripted")


@pytest.mark.parametrize("name", [None, ""])
def test_no_name_is_the_configured_model(name: str | None, tmp_path: Path) -> None:
    file = tmp_path / "configured.yaml"
    file.write_text("- when: x\n  steps: [{say: y}]", encoding="utf-8")
    with override_settings(ACCORD_MODEL=f"scripted:{file}"):
        assert model_for(name).model_name == "configured.yaml"


def test_scripted_with_a_file_plays_that_file(tmp_path: Path) -> None:
    file = tmp_path / "tour.yaml"
    file.write_text("- when: x\n  steps: [{say: y}]", encoding="utf-8")
    assert model_for(f"scripted:{file}").model_name == "tour.yaml"


def test_a_scripted_model_with_a_bad_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match=r"none\.yaml: this file cannot be read"):
        model_for(f"scripted:{tmp_path}/none.yaml")


def test_the_same_name_gives_the_same_model() -> None:
    assert model_for("scripted") is model_for("scripted")


def test_a_refused_name_is_tried_again(tmp_path: Path) -> None:
    file = tmp_path / "late.yaml"
    with pytest.raises(ScriptError):
        model_for(f"scripted:{file}")
    file.write_text("- when: x\n  steps: [{say: y}]", encoding="utf-8")
    assert model_for(f"scripted:{file}").model_name == "late.yaml"


def test_a_compatible_service_is_named_by_model_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCORD_API_KEY", "key-1")
    model = model_for("openai-compatible:org/model:7b@http://127.0.0.1:9/v1")
    assert isinstance(model, OpenAIChatModel)
    assert (model.model_name, model.base_url) == ("org/model:7b", "http://127.0.0.1:9/v1/")
    assert model.client.api_key == "key-1"


def test_a_compatible_service_may_want_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACCORD_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "not for others")
    model = model_for("openai-compatible:m@http://127.0.0.1:10/v1")
    assert isinstance(model, OpenAIChatModel)
    assert model.client.api_key == "none"


@pytest.mark.parametrize("name", ["openai-compatible:m", "openai-compatible:@http://h/v1", "openai-compatible:m@h/v1"])
def test_an_incomplete_address_is_refused_with_what_to_write(name: str) -> None:
    with pytest.raises(ModelConfigError, match="write openai-compatible:MODEL@http://HOST/v1"):
        model_for(name)


@pytest.mark.parametrize("name", ["nonsense", "nobody:model", "scripted2"])
def test_an_unknown_name_is_refused_by_name(name: str) -> None:
    with pytest.raises(ModelConfigError, match=f"The model '{name}' cannot be used"):
        model_for(name)


def test_a_missing_key_is_refused_with_the_variable_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ModelConfigError, match="ANTHROPIC_API_KEY"):
        model_for("anthropic:claude-sonnet-4-5")


def test_a_missing_package_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "groq", None)
    monkeypatch.delitem(sys.modules, "pydantic_ai.providers.groq", raising=False)
    with pytest.raises(ModelConfigError, match=r"needs a package that is not installed: .*groq"):
        model_for("groq:llama")
