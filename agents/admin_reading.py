"""The admin's "Read a reply": how a reply is read, held to its calls and shown, for whoever edits words and phrasings.

Nothing that is pasted is stored. A turn is read by who may read its calls (DESIGN 6, What the model sees).
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from agents.models.agents import Agent
from agents.reading import LONGEST, of_turn, pasted, setting_for
from agents.replies.showing import Shown, shown
from collab.errors import Invalid
from collab.text import speakable
from permissions.actors import Person
from permissions.admin.base import reader
from permissions.errors import NotFound

EXAMPLE = """\
[{"name": "refund_card", "args": {"order_id": "4412", "amount": 12.5}, "outcome": "refused"}]"""

TOOLS = (("ours", "This server’s, and those the calls name"), ("named", "Only those the calls name"))


class ReadingForm(forms.Form):
    """A reply and its calls, or a turn; ``told`` is how it is read once it is valid."""

    turn = forms.UUIDField(
        required=False, widget=UnfoldAdminTextInputWidget(), error_messages={"invalid": "This is no id of a turn."},
        help_text="A finished turn’s id. The person it was for reads its calls, and others once they are shared.",
    )  # fmt: skip
    reply = forms.CharField(
        required=False, strip=False, max_length=LONGEST, widget=UnfoldAdminTextareaWidget({"rows": 6}),
        help_text="Empty, with a turn: what the turn said.",
    )  # fmt: skip
    calls = forms.CharField(
        required=False, max_length=LONGEST, widget=UnfoldAdminTextareaWidget({"rows": 6, "placeholder": EXAMPLE}),
        help_text="JSON: a list of calls, or a row with calls, earlier and reply, as manage.py replies check takes it.",
    )  # fmt: skip
    tools = forms.ChoiceField(
        required=False, choices=TOOLS, widget=UnfoldAdminSelectWidget(), help_text="Whose words and phrasings count.",
    )  # fmt: skip
    derived = forms.ChoiceField(
        required=False, choices=Agent.Derived.choices, widget=UnfoldAdminSelectWidget(),
        help_text="Which sums of recorded amounts may be stated. A turn has its agent’s.",
    )  # fmt: skip

    told: Shown | None = None

    def __init__(self, *args: Any, actor: Person, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._actor = actor

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if not self.errors:
            try:
                self.told = self._read(found)
            except Invalid as bad:
                raise forms.ValidationError(bad.because) from bad
            except NotFound as hidden:
                raise forms.ValidationError(
                    "There is no finished turn with this id, or you may not read its calls."
                ) from hidden
        return found

    def _read(self, found: dict[str, Any]) -> Shown:
        turn: UUID | None = found["turn"]
        if turn is not None and found["calls"]:
            raise Invalid("A turn has its own calls: give a turn or calls, not both.")
        if turn is not None:
            case, setting = of_turn(self._actor, turn, found["reply"])
        elif not found["reply"].strip() and not found["calls"]:
            raise Invalid("Paste a reply, or name a turn.")
        else:
            case = pasted(found["reply"], found["calls"])
            derived = found["derived"] or Agent.Derived.ARITHMETIC
            setting = setting_for(case, with_ours=found["tools"] != "named", derived=derived)
        return shown(case.reply, case.record, setting)


def reading_page(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Show the form, and how what it sends is read."""
    sent = request.method == "POST"
    form = ReadingForm(request.POST if sent else None, initial=request.GET.dict(), actor=reader(request))
    status = 200 if not sent or form.is_valid() else 400
    told = form.told if sent else None
    context = {
        **site.each_context(request), "title": "Read a reply", "form": form, "told": told,
        "checked": speakable(told.text) if told else "",
    }  # fmt: skip
    return TemplateResponse(request, "admin/reading.html", context, status=status)
