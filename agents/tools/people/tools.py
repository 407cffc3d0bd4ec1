"""Asking people."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from agents.tools.contract import Asks, ToolContext, tool
from collab.services.checks import valid
from collab.text import clean_line, clean_text


@tool(effect="none", local=True, label="Ask a question")
def ask_person(
    ctx: ToolContext,
    question: str,
    choices: Annotated[tuple[str, ...], Field(max_length=8)] = (),
) -> Asks:
    """Ask the people of this conversation something, and wait until one of them answers.

    Give choices when the answer is one of a few. You are told the answer and who gave it.
    """
    with valid():
        text = clean_text(ctx.said(question), limit_bytes=4_000, name="the question")
        return Asks(text, tuple(dict.fromkeys(clean_line(choice, name="a choice") for choice in choices)))
