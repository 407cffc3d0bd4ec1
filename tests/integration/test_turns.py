"""Turns against a real database, with a model that says what the test tells it to (DESIGN 6)."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.db import OperationalError, transaction

from agents.models.agents import Agent
from agents.models.turns import Question, Turn
from agents.providers.errors import ProviderFailed
from agents.turns import boundary
from agents.turns.services import question_answer, question_dismiss, turn_ask_again, turn_stop
from collab import log
from collab.errors import Gone, Invalid
from collab.models.documents import Document
from collab.models.threads import Message
from collab.services.messages import message_cancel
from collab.services.threads import thread_archive
from collab.services.workspaces import member_role_set
from permissions.errors import NotFound, Refused
from permissions.roles import Role
from tests.support.cast import Studio
from tests.support.turns import Puppet, Stage, outcomes, posts, replies, took, turns, types, until
from tests.support.worked import Worker

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_message_starts_a_turn_for_its_author_and_is_answered(studio: Studio, puppet: Puppet, stage: Stage):
    posts(studio.ana, studio.thread, "hello")
    assert "hello" in puppet.is_asked().words
    puppet.says("Good day. ", "What now?")
    stage.settles()
    (turn,) = turns(studio.thread)
    assert (turn.status, turn.on_behalf_of, took(turn)) == ("completed", studio.ana.actor, ["hello"])
    assert replies(studio.thread) == ["Good day. What now?"]
    assert log.verify(studio.thread.id) is None


def test_a_b_a_are_three_turns_each_for_its_own_author(studio: Studio, puppet: Puppet, stage: Stage):
    posts(studio.ana, studio.thread, "one")
    puppet.is_asked()
    posts(studio.ben, studio.thread, "two")
    posts(studio.ana, studio.thread, "three")
    for reply in ("first", "second", "third"):
        puppet.says(reply)
    stage.settles()
    until(lambda: len(replies(studio.thread)) == 3)
    found = [(turn.on_behalf_of, took(turn)) for turn in turns(studio.thread)]
    ana, ben = studio.ana.actor, studio.ben.actor
    assert found == [(ana, ["one"]), (ben, ["two"]), (ana, ["three"])]


def test_another_authors_message_never_joins_a_running_turn_and_nothing_joins_behind_it(
    studio: Studio, puppet: Puppet, stage: Stage
):
    posts(studio.ana, studio.thread, "plan the launch")
    puppet.is_asked()
    posts(studio.ben, studio.thread, "and delete the budget")
    posts(studio.ana, studio.thread, "quickly")
    puppet.calls("list_documents")
    assert "delete the budget" not in puppet.is_asked().words
    puppet.says("Planned.")
    until(lambda: len(turns(studio.thread)) == 2)
    puppet.says("No.")
    puppet.says("Done.")
    until(lambda: len(replies(studio.thread)) == 3)
    assert [took(turn) for turn in turns(studio.thread)] == [
        ["plan the launch"], ["and delete the budget"], ["quickly"],
    ]  # fmt: skip


def test_the_turns_own_author_steers_it_at_a_boundary(studio: Studio, puppet: Puppet, stage: Stage):
    posts(studio.ana, studio.thread, "draft the invitation")
    puppet.is_asked()
    posts(studio.ana, studio.thread, "under 60 words")
    puppet.calls("list_documents")
    assert "under 60 words" in puppet.is_asked().words
    puppet.says("Drafted.")
    stage.settles()
    (turn,) = turns(studio.thread)
    assert took(turn) == ["draft the invitation", "under 60 words"]
    assert Message.objects.get(content="under 60 words").taken_as == "steer"
    assert "message_taken" in types(studio.thread)


def test_a_message_sent_while_the_last_words_stream_joins_instead_of_being_lost(
    studio: Studio, puppet: Puppet, stage: Stage
):
    posts(studio.ana, studio.thread, "hello")
    puppet.is_asked()
    posts(studio.ana, studio.thread, "wait")
    puppet.says("Good day.")
    assert "wait" in puppet.is_asked().words
    puppet.says("I wait.")
    stage.settles()
    (turn,) = turns(studio.thread)
    assert took(turn) == ["hello", "wait"]
    assert replies(studio.thread) == ["Good day.\n\nI wait."]


def test_a_sender_revoked_while_waiting_is_passed_over_and_told(studio: Studio, puppet: Puppet, stage: Stage):
    posts(studio.ana, studio.thread, "one")
    puppet.is_asked()
    waiting = posts(studio.ben, studio.thread, "two")
    posts(studio.ana, studio.thread, "three")
    member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER)
    puppet.says("first")
    puppet.says("third")
    until(lambda: len(replies(studio.thread)) == 2)
    waiting.refresh_from_db()
    assert (waiting.waits, waiting.taken_by) == (False, None)
    assert "Ben" in (waiting.passed_over or "")
    assert [took(turn) for turn in turns(studio.thread)] == [["one"], ["three"]]
    assert types(studio.thread).count("message_passed_over") == 1


def test_a_viewers_message_is_refused_and_nothing_is_posted(studio: Studio):
    before = len(types(studio.thread))
    with pytest.raises(Refused, match="Vera"):
        posts(studio.vera, studio.thread, "me too")
    assert not Message.objects.filter(thread=studio.thread).exists()
    assert len(types(studio.thread)) == before


def test_a_strangers_message_finds_no_thread(studio: Studio, zoe):
    with pytest.raises(NotFound):
        posts(zoe, studio.thread, "me too")


def test_a_question_pauses_the_turn_and_the_next_message_answers_it(studio: Studio, puppet: Puppet, stage: Stage):
    posts(studio.ana, studio.thread, "book a table")
    puppet.is_asked()
    puppet.calls("ask_person", question="Which day?", choices=["Friday", "Saturday"])
    until(lambda: Turn.objects.filter(status="paused").exists())
    stage.settles()
    posts(studio.ben, studio.thread, "Sunday, please")
    asked = puppet.is_asked()
    assert asked.returns["ask_person"] == {"answer": "Sunday, please", "by": "Ben"}
    puppet.says("Booked.")
    stage.settles()
    first, second = turns(studio.thread)
    assert (first.status, second.resumes_id, second.on_behalf_of) == ("paused", first.id, studio.ben.actor)
    assert Message.objects.get(content="Sunday, please").taken_as == "reply"


def test_answering_by_button_resumes_for_who_answered_and_only_once(studio: Studio, puppet: Puppet, stage: Stage):
    question = _asks(studio, puppet, stage)
    with pytest.raises(Invalid, match="Choose one of"):
        question_answer(actor=studio.ana.actor, question=question.id, answer="Monday")
    question_answer(actor=studio.ana.actor, question=question.id, answer="Friday")
    assert puppet.is_asked().returns["ask_person"] == {"answer": "Friday", "by": "Ana"}
    with pytest.raises(Gone):
        question_answer(actor=studio.ben.actor, question=question.id, answer="Saturday")
    puppet.says("Booked.")
    stage.settles()
    assert [turn.on_behalf_of for turn in turns(studio.thread)] == [studio.ana.actor, studio.ana.actor]


def test_where_ben_resumes_what_anas_turn_paused_her_results_stand_as_their_outcomes(
    studio: Studio, puppet: Puppet, stage: Stage
):
    posts(studio.ana, studio.thread, "book a table")
    puppet.is_asked()
    puppet.calls("read_document", document="Launch plan")
    assert "Budget: 900" in puppet.is_asked().words
    puppet.calls("ask_person", question="Which day?")
    until(lambda: Turn.objects.filter(status="paused").exists())
    posts(studio.ben, studio.thread, "Friday")
    asked = puppet.is_asked()
    assert "Budget: 900" not in asked.words
    assert asked.returns["read_document"] == "done"
    puppet.says("Booked.")
    stage.settles()


def test_the_call_of_an_answered_question_is_done_and_the_log_says_so(studio: Studio, puppet: Puppet, stage: Stage):
    question = _asks(studio, puppet, stage)
    question_answer(actor=studio.ana.actor, question=question.id, answer="Friday")
    assert outcomes(turns(studio.thread)[0]) == [("ask_person", "done", "")]
    assert types(studio.thread).count("call_ended") == types(studio.thread).count("call_started") == 1
    puppet.is_asked()
    puppet.says("Booked.")
    stage.settles()


def test_an_answer_is_found_behind_all_that_waited_before_its_question(studio: Studio, puppet: Puppet, stage: Stage):
    posts(studio.ana, studio.thread, "book a table")
    puppet.is_asked()
    for number in range(120):
        posts(studio.ben, studio.thread, f"remark {number}")
    puppet.calls("ask_person", question="Which day?")
    until(lambda: Turn.objects.filter(status="paused").exists())
    posts(studio.ana, studio.thread, "Friday")
    assert puppet.is_asked().returns["ask_person"] == {"answer": "Friday", "by": "Ana"}
    puppet.says("Booked.")
    puppet.is_asked()
    puppet.says("Noted.")
    stage.settles()


def test_what_waits_when_a_thread_is_archived_is_passed_over_with_the_reason(
    studio: Studio, puppet: Puppet, stage: Stage
):
    posts(studio.ana, studio.thread, "one")
    puppet.is_asked()
    waiting = posts(studio.ben, studio.thread, "two")
    thread_archive(actor=studio.ana.actor, thread=studio.thread.id, archived=True)
    puppet.says("first")
    until(lambda: Message.objects.get(pk=waiting.id).passed_over is not None)
    stage.settles()
    assert "archived" in (Message.objects.get(pk=waiting.id).passed_over or "")
    assert len(turns(studio.thread)) == 1


def test_a_paused_turn_stays_paused_when_who_answers_may_not(studio: Studio, puppet: Puppet, stage: Stage):
    question = _asks(studio, puppet, stage)
    with pytest.raises(Refused):
        question_answer(actor=studio.vera.actor, question=question.id, answer="Friday")
    assert turns(studio.thread)[0].status == "paused"


def test_a_resume_that_is_refused_after_the_answer_ends_the_turn_forbidden(
    studio: Studio, puppet: Puppet, stage: Stage
):
    question = _asks(studio, puppet, stage)
    with transaction.atomic():
        question_answer(actor=studio.ben.actor, question=question.id, answer="Friday")
        member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER)
    until(lambda: turns(studio.thread)[0].status == "failed")
    (turn,) = turns(studio.thread)
    assert turn.reason == "forbidden"
    assert "Ben" in turn.because


def test_dismissing_a_question_ends_the_turn_unanswered(studio: Studio, puppet: Puppet, stage: Stage):
    _asks(studio, puppet, stage)
    (turn,) = turns(studio.thread)
    with pytest.raises(Refused):
        question_dismiss(actor=studio.ben.actor, turn=turn.id)
    question_dismiss(actor=studio.ana.actor, turn=turn.id)
    turn.refresh_from_db()
    assert (turn.status, turn.reason) == ("failed", "unanswered")


def test_a_turn_that_breaks_off_after_it_asked_leaves_no_question_open(studio: Studio):
    posts(studio.ana, studio.thread, "book a table")
    robin = Worker.begins(studio)
    robin.calls("ask_person", question="Which day?")
    boundary.fail(robin.work, reason="limit", because="Its time was up.")
    question = Question.objects.get()
    assert (question.dismissed, question.call.outcome) == (True, "not_attempted")
    with pytest.raises(Gone):
        question_answer(actor=studio.ana.actor, question=question.id, answer="Friday")


def test_questions_nobody_answers_for_a_day_end_the_turn(studio: Studio, puppet: Puppet, stage: Stage, clock):
    _asks(studio, puppet, stage)
    clock(24 * 3600 + 60)
    until(lambda: turns(studio.thread)[0].status == "failed")
    assert turns(studio.thread)[0].reason == "unanswered"


def test_stopping_interrupts_the_models_answer_and_keeps_what_was_said(studio: Studio, puppet: Puppet, stage: Stage):
    posts(studio.ana, studio.thread, "talk")
    puppet.is_asked()
    puppet.says("One thing first.\n", calls=[("list_documents", {})])
    puppet.is_asked()
    (turn,) = turns(studio.thread)
    with pytest.raises(Refused):
        turn_stop(actor=studio.ben.actor, turn=turn.id)
    turn_stop(actor=studio.ana.actor, turn=turn.id)
    stage.settles()
    turn.refresh_from_db()
    assert (turn.status, turn.stop_asked_by) == ("stopped", studio.ana.actor)
    reply = Message.objects.get(turn_id=turn.id)
    assert (reply.content, reply.interrupted) == ("One thing first.\n", True)
    with pytest.raises(Gone):
        turn_stop(actor=studio.ana.actor, turn=turn.id)


def test_a_stopped_turn_can_be_asked_again_once_by_the_one_it_was_for(studio: Studio, puppet: Puppet, stage: Stage):
    posts(studio.ana, studio.thread, "talk")
    puppet.is_asked()
    (turn,) = turns(studio.thread)
    turn_stop(actor=studio.ana.actor, turn=turn.id)
    stage.settles()
    with pytest.raises(Refused):
        turn_ask_again(actor=studio.ben.actor, turn=turn.id)
    first = turn_ask_again(actor=studio.ana.actor, turn=turn.id)
    assert turn_ask_again(actor=studio.ana.actor, turn=turn.id).id == first.id
    assert "talk" in puppet.is_asked().words
    puppet.says("Talking.")
    stage.settles()
    assert replies(studio.thread) == ["Talking."]


def test_a_question_is_not_answered_by_button_in_a_thread_that_was_archived(
    studio: Studio, puppet: Puppet, stage: Stage
):
    question = _asks(studio, puppet, stage)
    thread_archive(actor=studio.ana.actor, thread=studio.thread.id, archived=True)
    with pytest.raises(Invalid, match="archived"):
        question_answer(actor=studio.ana.actor, question=question.id, answer="Friday")
    thread_archive(actor=studio.ana.actor, thread=studio.thread.id, archived=False)
    question_answer(actor=studio.ana.actor, question=question.id, answer="Friday")
    puppet.says("Friday it is.")
    until(lambda: replies(studio.thread) == ["Friday it is."])
    stage.settles()


def test_a_waiting_message_can_be_cancelled_by_its_author_until_it_is_taken(
    studio: Studio, puppet: Puppet, stage: Stage
):
    taken = posts(studio.ana, studio.thread, "one")
    puppet.is_asked()
    waiting = posts(studio.ben, studio.thread, "two")
    with pytest.raises(Refused):
        message_cancel(actor=studio.ana.actor, message=waiting.id)
    message_cancel(actor=studio.ben.actor, message=waiting.id)
    with pytest.raises(Gone, match="taken"):
        message_cancel(actor=studio.ana.actor, message=taken.id)
    puppet.says("first")
    stage.settles()
    assert len(turns(studio.thread)) == 1


def test_an_edit_is_made_as_the_person_capped_by_the_agent(studio: Studio, puppet: Puppet, stage: Stage):
    posts(studio.ben, studio.thread, "raise the budget")
    puppet.is_asked()
    puppet.calls("edit_document", document="Launch plan", edits=[{"find": "900", "replace": "950"}])
    told = puppet.is_asked().returns["edit_document"]
    puppet.says(told["summary"])
    stage.settles()
    document = Document.objects.get(pk=studio.document.id)
    assert (document.version, "950" in document.data["text"]) == (2, True)
    (turn,) = turns(studio.thread)
    assert outcomes(turn) == [("edit_document", "done", "")]
    revision = document.revisions.get(version=2)
    assert revision.actor == studio.robin.acting_for(studio.ben, studio.thread)
    assert revision.turn_id == turn.id


def test_revoking_a_grant_stops_the_very_next_write(studio: Studio, puppet: Puppet, stage: Stage):
    posts(studio.ben, studio.thread, "raise the budget")
    puppet.is_asked()
    member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.VIEWER)
    puppet.calls("edit_document", document="Launch plan", edits=[{"find": "900", "replace": "950"}])
    told = puppet.is_asked().returns["edit_document"]
    assert told["refused"] == "forbidden"
    assert "Ben" in told["summary"]
    puppet.says("Ben may not.")
    stage.settles()
    assert Document.objects.get(pk=studio.document.id).version == 1
    assert outcomes(turns(studio.thread)[0]) == [("edit_document", "refused", "forbidden")]


def test_a_contributors_edit_is_recorded_as_a_proposal(studio: Studio, puppet: Puppet, stage: Stage):
    member_role_set(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id, role=Role.CONTRIBUTOR)
    posts(studio.ben, studio.thread, "raise the budget")
    puppet.is_asked()
    puppet.calls("edit_document", document="Launch plan", edits=[{"find": "900", "replace": "950"}])
    assert puppet.is_asked().returns["edit_document"]["state"] == "open"
    puppet.says("Suggested.")
    stage.settles()
    assert outcomes(turns(studio.thread)[0]) == [("propose_change", "done", "")]
    assert Document.objects.get(pk=studio.document.id).version == 1
    assert "proposal_created" in types(studio.thread)


@pytest.mark.parametrize(
    ("tool", "args", "reason"),
    [
        ("grant_rights", {}, "unknown_tool"),
        ("read_document", {"document": "Launch plan", "user_id": "ana"}, "argument_schema"),
        ("read_document", {}, "argument_schema"),
        ("read_document", {"document": 7}, "argument_schema"),
        ("read_document", '{"document": "Launch plan", "document": "x"}', "argument_schema"),
        ("read_document", '{"document": NaN}', "argument_schema"),
        ("read_document", '{"document": "a\\u0000b"}', "argument_schema"),
        ("read_document", '{"document": "' + "x" * 250_000 + '"}', "argument_schema"),
        ("read_document", "[" * 5_000, "argument_schema"),
        ("read_document", "not json", "argument_schema"),
        ("read_document", {"document": "No such"}, "not_found"),
        ("edit_document", {"document": "Launch plan", "edits": [{"find": "900"}]}, "argument_schema"),
    ],
)
def test_model_garbage_is_recorded_as_a_refusal_and_the_turn_goes_on(
    studio: Studio, puppet: Puppet, stage: Stage, tool, args, reason
):
    posts(studio.ana, studio.thread, "go")
    puppet.is_asked()
    puppet.says(calls=[(tool, args)])
    puppet.is_asked()
    puppet.says("It was refused.")
    stage.settles()
    (turn,) = turns(studio.thread)
    assert [(outcome, why) for _, outcome, why in outcomes(turn)] == [("refused", reason)]
    assert turn.status == "completed"


def test_a_turn_that_calls_for_ever_ends_within_its_budget(studio: Studio, puppet: Puppet, stage: Stage):
    Agent.objects.filter(pk=studio.robin.id).update(max_steps=3)
    posts(studio.ana, studio.thread, "loop")
    for _ in range(3):
        puppet.is_asked()
        puppet.calls("list_documents")
    stage.settles()
    until(lambda: turns(studio.thread)[0].status == "failed")
    (turn,) = turns(studio.thread)
    assert (turn.reason, "3 steps" in turn.because) == ("limit", True)


def test_a_person_whose_day_is_used_up_is_passed_over_with_the_reason(studio: Studio, puppet: Puppet, stage: Stage):
    Agent.objects.filter(pk=studio.robin.id).update(turns_a_day=1)
    posts(studio.ana, studio.thread, "one")
    puppet.says("first")
    stage.settles()
    second = posts(studio.ana, studio.thread, "two")
    until(lambda: Message.objects.get(pk=second.id).passed_over is not None)
    assert "next day" in (Message.objects.get(pk=second.id).passed_over or "")
    assert len(turns(studio.thread)) == 1


def test_nul_surrogates_and_control_characters_of_a_model_are_visibly_replaced(
    studio: Studio, puppet: Puppet, stage: Stage
):
    posts(studio.ana, studio.thread, "go")
    puppet.says("a\x00b\x07c\ud800d")
    stage.settles()
    until(lambda: bool(replies(studio.thread)))
    assert replies(studio.thread) == ["a␀b␇c?d"]


def test_private_results_stay_with_the_person_whose_turn_fetched_them(studio: Studio, puppet: Puppet, stage: Stage):
    posts(studio.ana, studio.thread, "read it")
    puppet.is_asked()
    puppet.calls("read_document", document="Launch plan")
    puppet.is_asked()
    puppet.says("I read it.")
    stage.settles()
    posts(studio.ben, studio.thread, "and?")
    asked = puppet.is_asked()
    assert "Budget: 900" not in asked.words
    assert "I read it." in asked.words
    puppet.says("Nothing.")
    stage.settles()
    posts(studio.ana, studio.thread, "more")
    assert "Budget: 900" in puppet.is_asked().words
    puppet.says("No.")
    stage.settles()


def test_a_turn_that_fails_keeps_what_it_took_and_says_why(studio: Studio, puppet: Puppet, stage: Stage):
    posts(studio.ana, studio.thread, "go")
    puppet.is_asked()
    puppet.breaks(ProviderFailed("The model service answered 401.", retryable=False, attempts=1))
    stage.settles()
    (turn,) = turns(studio.thread)
    assert (turn.status, turn.reason, took(turn)) == ("failed", "provider_failed", ["go"])
    assert "401" in turn.because


def _asks(studio: Studio, puppet: Puppet, stage: Stage) -> Question:
    posts(studio.ana, studio.thread, "book a table")
    puppet.is_asked()
    puppet.calls("ask_person", question="Which day?", choices=["Friday", "Saturday"])
    until(lambda: Turn.objects.filter(status="paused").exists())
    stage.settles()
    return Question.objects.get()


def test_a_turn_whose_database_went_away_is_continued_and_not_failed(
    studio: Studio, puppet: Puppet, stage: Stage, monkeypatch: pytest.MonkeyPatch, clock
):
    reach = boundary.reach
    away = iter([True])

    def reaching(work):
        if next(away, False):
            raise OperationalError("the database went away")
        return reach(work)

    monkeypatch.setattr(boundary, "reach", reaching)
    posts(studio.ana, studio.thread, "hello")
    puppet.says("Good day.")
    puppet.is_asked()
    stage.settles()
    clock(settings.ACCORD_LEASE_SECONDS + 1)
    puppet.says("Good day.")
    puppet.is_asked()
    until(lambda: replies(studio.thread) == ["Good day."])
    stage.settles()
    assert [(turn.status, turn.reason) for turn in turns(studio.thread)] == [("failed", "abandoned"), ("completed", "")]
