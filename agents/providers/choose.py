"""From a configured name to a model (DESIGN 12: ``ACCORD_MODEL``)."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider

from agents.providers.errors import ModelConfigError
from agents.providers.scripted import ScriptedModel, ScriptFile

DEMO = Path(__file__).with_name("demo.yaml")
_COMPATIBLE = re.compile(r"(?P<model>.+?)@(?P<url>https?://\S+)")


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
            return _openai_compatible(name, rest)
        case _:
            return _known(name)


def _openai_compatible(name: str, rest: str) -> Model[Any]:
    """Return a chat model at a URL. An answer that ends without a reason to stop counts as cut off, not as whole."""
    address = _COMPATIBLE.fullmatch(rest)
    if address is None:
        raise ModelConfigError(f"The model {name!r} is incomplete: write openai-compatible:MODEL@http://HOST/v1.")
    provider = OpenAIProvider(base_url=address["url"], api_key=os.environ.get("ACCORD_API_KEY") or "none")
    profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    return OpenAIChatModel(address["model"], provider=provider, profile=profile)


def _known(name: str) -> Model[Any]:
    try:
        return infer_model(name)
    except ImportError as problem:
        raise ModelConfigError(f"The model {name!r} needs a package that is not installed: {problem}") from problem
    except (UserError, ValueError) as problem:
        raise ModelConfigError(f"The model {name!r} cannot be used: {problem}") from problem
