"""What an item says of a call, and to whom (DESIGN 6, What the model sees)."""

from __future__ import annotations

import json

import pytest

from agents.items import call_items
from agents.models.turns import Call, Turn
from agents.tools.contract import Looked
from agents.tools.settling import lookup_claimed, settled
from collab.models.threads import Thread
from collab.web.access import Viewer
from collab.web.frames import event_frames
from permissions.actors import System
from tests.support.cast import Studio
from tests.support.tools import book_boat, registered
from tests.support.turns import posts
from tests.support.worked import Worker

pytestmark = pytest.mark.django_db


def read_for(studio: Studio, who: str, **args: object) -> Call:
    """Have Robin read the documents for someone, with some arguments in its record."""
    posts(getattr(studio, who), studio.thread, "what is there?")
    robin = Worker.begins(studio)
    robin.calls("list_documents")
    robin.ends("There it is.")
    call = Call.objects.get(turn=robin.turn)
    if args:
        call.args = str(args["args"])
        call.save()
    return call


def test_whoever_approved_a_call_reads_what_it_asked_and_others_do_not(studio: Studio) -> None:
    call = read_for(studio, "ben")
    approved = read_for(studio, "ana").turn
    Call.objects.filter(pk=call.pk).update(carried_by=Turn.objects.get(pk=approved.pk))
    told = {name: call_items(getattr(studio, name).actor, [call.pk])[0]["args"] for name in ("ana", "ben", "vera")}
    assert told == {"ana": call.args, "ben": call.args, "vera": None}
    assert call_items(None, [call.pk])[0]["args"] is None


def test_a_call_that_the_system_settles_keeps_its_arguments_on_the_page_of_whom_it_was_for(studio: Studio) -> None:
    posts(studio.ben, studio.thread, "book a boat for us all")
    with registered(book_boat):
        Worker.begins(studio).calls("book_boat", guests=9)
        call, before = Call.objects.get(), Thread.objects.get().head_seq
        sent = lookup_claimed(call.pk)
        assert sent
        assert settled(sent, Looked(happened=True), actor=System())
    ben, vera = (Viewer(getattr(studio, name).id, whole=True) for name in ("ben", "vera"))
    (frame,) = event_frames(studio.thread.id, before, [ben, vera]).frames
    told = {viewer: json.loads(frame.texts[viewer])["items"][0] for viewer in (ben, vera)}
    assert (told[ben]["item"], told[ben]["args"], told[vera]["args"]) == ("call", call.args, None)


@pytest.mark.parametrize(
    ("args", "brief"),
    [
        ('{"day":"2027-06-04","name":"","party":4}', "day 2027-06-04, party 4"),
        ('{"up_to":{"a":1},"text":"two\\nlines"}', 'up to {"a": 1}, text two lines'),
        ("{}", ""),
        ("", ""),
        ("[1]", "[1]"),
        ("no json", "no json"),
    ],
)
def test_a_call_in_a_few_words_names_its_arguments(studio: Studio, args: str, brief: str) -> None:
    call = read_for(studio, "ana", args=args)
    Call.objects.filter(pk=call.pk).update(result="")
    assert call_items(studio.ana.actor, [call.pk])[0]["brief"] == brief
