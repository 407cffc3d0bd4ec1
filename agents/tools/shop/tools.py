"""A shop's orders and refunds. They ask the service at ``ACCORD_WORLD_URL``."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, Field, JsonValue

from agents.tools.contract import Looked, ToolContext, tool
from agents.tools.http import Service

SHOP = Service("The shop", "nothing was refunded")
ORDERS = Service("The shop", "nothing was looked up")

Order = Annotated[str, Field(pattern=r"^[A-Za-z0-9]{1,40}$", description="An order's number, like 4412.")]
Amount = Annotated[
    Decimal, Field(gt=0, le=10_000, decimal_places=2, description="How much, in the order's currency, like 12.50.")
]


async def _was_it_refunded(ctx: ToolContext, args: BaseModel) -> Looked:
    return await SHOP.done_with(ctx.key)


@tool(effect="read", timeout=15.0)
async def get_order(ctx: ToolContext, order: Order) -> JsonValue:
    """Read an order: what it is, what was paid, what of it remains, where it is."""
    return await ORDERS.asked("GET", f"/orders/{order}")


@tool(effect="write", consent="always", keyed=True, lookup=_was_it_refunded, per_day=5, timeout=15.0)
async def refund_card(ctx: ToolContext, order: Order, amount: Amount) -> JsonValue:
    """Refund money of an order to the card that it was paid with. A person is asked first."""
    return await SHOP.asked("POST", "/refunds", key=ctx.key, body={"order": order, "amount": f"{amount:.2f}"})
