"""The shop of REPLIES as people see it: what was refunded, never what the agent says of it."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.support.outside import Outside
from tests.support.stage import Stage, Tab

SHOP = """
from agents.models.agents import Agent
from agents.tools.enabling import workspace_tool_enable
from collab.models.workspaces import Workspace
from permissions.actors import Person
from permissions.models import User
from permissions.services import grant_give
actor, robin = Person(User.objects.get(username="ana").pk), User.objects.get(kind="agent", display_name="Robin")
workspace = "{workspace}"
for name in ("get_order", "refund_card"):
    row = workspace_tool_enable(actor=actor, workspace=workspace, tool=name)
    grant_give(by=actor, holder=robin, codename="use_tool", obj=row)
Agent.objects.filter(account=robin).update(reader="on", on_unread="model")
"""
NOT_DONE = "Not done: refund card."
REFUNDED = "Refunded 12.5 pounds for order 4412."


def reads(ana: Tab, said: str, read: str) -> None:
    """Have Ana say something, and check what she reads."""
    before = ana.replies.count()
    ana.says(said)
    expect(ana.replies).to_have_count(before + 1)
    expect(ana.replies.last).to_have_text(read)


def test_what_people_read_of_a_refund_is_what_became_of_it(scene: Stage, outside: Outside) -> None:
    outside.site.server.manage("shell", "-c", SHOP.format(workspace=outside.studio.workspace))
    ana = scene.tab("ana", outside.thread("Lost parcel").thread_path)
    ana.says("my parcel is lost")
    expect(ana.replies.last).to_contain_text("I didn't recognise anything in that. I can ")
    expect(ana.replies.last).to_contain_text("refund card")
    reads(ana, "say Order 4412 has been refunded.", NOT_DONE)
    reads(ana, "please refund 12.50 for order 4412", "Once you confirm, I will refund 12.5 pounds for order 4412.")
    card = ana.log.locator(".ask").last
    expect(card).to_contain_text("12.5")
    ana.comes_to_rest()
    card.get_by_role("button", name="Approve").click()
    expect(ana.replies.last).to_contain_text(REFUNDED)
    reads(ana, "say I've refunded 15.00 pounds to your card for order 4412.", REFUNDED)
    true = "I've refunded 12.50 pounds to your card for order 4412."
    reads(ana, f"say {true}", true)
    assert [deed["amount"] for deed in outside.deeds("refund")] == ["12.50"]
