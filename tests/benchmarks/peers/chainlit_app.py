"""A Chainlit chat that answers at once. Run by a Python of its own: ``chainlit run --headless chainlit_app.py``."""

from __future__ import annotations

import chainlit as cl


@cl.on_message
async def answer(message: cl.Message) -> None:
    """Stream one sentence, as a model without delay would."""
    reply = cl.Message(content="")
    await reply.stream_token("It is done and the plan stands.")
    await reply.update()
