"""Planning: what a thread does next (DESIGN 6, Planning). The rules are numbered there."""

from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.turns.plan import Nothing, Paused, Resume, Start, Waiting, joinable, plan
from permissions.actors import Actor, Client, Person, Source, System, same_author

ANA, BEN = Person(uuid4()), Person(uuid4())
DESK = Client(uuid4(), ANA.id)
RESTAURANT = Source(uuid4(), ANA.id)
TURN = uuid4()


def said(author: Actor, seq: int) -> Waiting:
    return Waiting(UUID(int=seq), seq, author)


def test_nothing_waits_so_nothing_starts():
    assert plan([], None) == Nothing()


def test_a_turn_takes_the_messages_up_to_the_first_change_of_author():
    first, second, third = said(ANA, 1), said(ANA, 2), said(BEN, 3)
    assert plan([first, second, third], None) == Start(ANA, (first, second))


def test_a_b_a_are_three_turns_and_nobody_is_overtaken():
    waiting = [said(ANA, 1), said(BEN, 2), said(ANA, 3)]
    taken = []
    while isinstance(step := plan(waiting, None), Start):
        taken.append((step.author, [message.seq for message in step.messages]))
        waiting = [message for message in waiting if message not in step.messages]
    assert taken == [(ANA, [1]), (BEN, [2]), (ANA, [3])]


def test_a_persons_own_client_is_another_author_and_cuts_the_turn():
    assert plan([said(ANA, 1), said(DESK, 2)], None) == Start(ANA, (said(ANA, 1),))


def test_the_reply_to_a_question_is_the_oldest_message_posted_after_it():
    before, reply = said(BEN, 3), said(BEN, 7)
    assert plan([before, reply], Paused(TURN, asked_seq=5)) == Resume(TURN, BEN, reply, ())


def test_messages_from_before_a_question_wait_while_it_is_open():
    assert plan([said(ANA, 3), said(BEN, 4)], Paused(TURN, asked_seq=5)) == Nothing()


def test_a_reply_takes_the_messages_of_its_author_right_behind_it():
    waiting = [said(BEN, 6), said(BEN, 7), said(ANA, 8), said(BEN, 9)]
    assert plan(waiting, Paused(TURN, asked_seq=5)) == Resume(TURN, BEN, waiting[0], (waiting[1],))


@pytest.mark.parametrize("author", [RESTAURANT, System()])
def test_what_nobody_typed_answers_no_question(author):
    assert plan([said(author, 6)], Paused(TURN, asked_seq=5)) == Nothing()


def test_a_client_may_answer_and_the_turn_then_acts_for_it():
    assert plan([said(RESTAURANT, 6), said(DESK, 7)], Paused(TURN, 5)) == Resume(TURN, DESK, said(DESK, 7), ())


def test_a_turn_answered_by_button_resumes_for_who_answered_and_takes_what_joins_them():
    waiting = [said(BEN, 3), said(BEN, 4), said(ANA, 6)]
    assert plan(waiting, Paused(TURN, 5, answered_by=BEN)) == Resume(TURN, BEN, None, tuple(waiting[:2]))


def test_a_turn_answered_by_button_takes_nothing_of_anothers_that_waits_first():
    assert plan([said(ANA, 3), said(BEN, 4)], Paused(TURN, 5, answered_by=BEN)) == Resume(TURN, BEN, None, ())


authors = st.sampled_from([ANA, BEN, DESK, RESTAURANT, System()])
queues = st.lists(authors, max_size=12).map(lambda people: [said(who, seq) for seq, who in enumerate(people, 1)])


@given(queues, st.integers(0, 12), st.sampled_from([None, ANA, BEN, DESK]), st.booleans())
def test_whatever_is_taken_is_of_one_author_contiguous_and_in_order(waiting, asked, answered_by, is_paused):
    step = plan(waiting, Paused(TURN, asked, answered_by) if is_paused else None)
    if isinstance(step, Nothing):
        return
    taken = [*([step.reply] if isinstance(step, Resume) and step.reply else []), *step.messages]
    assert all(same_author(message.author, step.author) for message in taken)
    places = [waiting.index(message) for message in taken]
    assert places == list(range(places[0], places[0] + len(places))) if places else True
    if isinstance(step, Start):
        assert places[0] == 0


@given(queues)
def test_planning_again_and_again_takes_every_message_once_in_log_order(waiting):
    left, taken = list(waiting), []
    while isinstance(step := plan(left, None), Start):
        taken += step.messages
        left = left[len(step.messages) :]
    assert taken == waiting


@given(queues, authors)
def test_nothing_of_another_author_joins_and_nothing_behind_it(waiting, author):
    joined = joinable(waiting, author)
    assert list(joined) == waiting[: len(joined)]
    assert all(same_author(message.author, author) for message in joined)
    assert len(joined) == len(waiting) or not same_author(waiting[len(joined)].author, author)
