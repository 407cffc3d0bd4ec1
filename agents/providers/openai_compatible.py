"""A chat model at a URL that speaks OpenAI's protocol. Imported when one is chosen: its client is slow to load."""

from __future__ import annotations

import os
import re
from typing import Any

from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider

from agents.providers.errors import ModelConfigError

_ADDRESS = re.compile(r"(?P<model>.+?)@(?P<url>https?://\S+)")


def model_at(address: str) -> Model[Any]:
    """Return the model at ``MODEL@URL``. An answer that ends without a reason to stop counts as cut off, not as whole.

    Raises:
        ModelConfigError: the address is incomplete.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        wanted = "write openai-compatible:MODEL@http://HOST/v1."
        raise ModelConfigError(f"The model 'openai-compatible:{address}' is incomplete: {wanted}")
    provider = OpenAIProvider(base_url=found["url"], api_key=os.environ.get("ACCORD_API_KEY") or "none")
    profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    return OpenAIChatModel(found["model"], provider=provider, profile=profile)
