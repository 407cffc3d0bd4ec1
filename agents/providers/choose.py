"""From a configured name to a model (DESIGN 12: ``ACCORD_MODEL``)."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from django.conf import settings
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model

from agents.providers.errors import ModelConfigError
from agents.providers.scripted import ScriptedModel, ScriptFile

DEMO = Path(__file__).with_name("demo.yaml")


def model_for(name: str | None) -> Model[Any]:
    """Return the model a name stands for; the same name gives the same model.

    Args:
        name: ``scripted`` (the demo), ``scripted:FILE``, ``openai-compatible:MODEL@URL`` (its key in
            ``ACCORD_API_KEY``, if it wants one), or any name pydantic-ai knows, such as ``anthropic:MODEL``; None or
            empty for the one that ``settings.ACCORD_MODEL`` names.

    Raises:
        ModelConfigError: the name is unknown, or the provider's package or key is missing. ScriptError, which is
            one, when a script file is wrong.
    """
    return _named(name or settings.ACCORD_MODEL)


@cache
def _named(name: str) -> Model[Any]:
    kind, _, rest = name.partition(":")
    match kind:
        case "scripted":
            return ScriptedModel(ScriptFile(Path(rest) if rest else DEMO))
        case "openai-compatible":
            model: Model[Any] = import_module("agents.providers.openai_compatible").model_at(rest)
            return model
        case _:
            return _known(name)


def _known(name: str) -> Model[Any]:
    try:
        return infer_model(name)
    except ImportError as problem:
        raise ModelConfigError(f"The model {name!r} needs a package that is not installed: {problem}") from problem
    except (UserError, ValueError) as problem:
        raise ModelConfigError(f"The model {name!r} cannot be used: {problem}") from problem
