"""What the model sees: assembled for each turn from the log (DESIGN 6, What the model sees).

Everyone's posted words, labelled with their speaker; of calls and results, those of this author's own turns and what
others shared, as data, so that what was fetched with one person's rights reaches another only if they say so. Newest
first until the budget in tokens is spent; a summary, made once and kept, stands for what is older.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, cast
from uuid import UUID

from django.db.models import TextField, Value
from pydantic_ai import framing
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from agents.models.agents import Agent as AgentRow
from agents.models.turns import Question, Summary, Turn
from agents.sources.naming import OWN_CLOCK, SIGNATURE
from agents.turns.resolutions import Resolution, ends_logged, of_author, told_before
from agents.turns.sharing import Shared, shared_of, sharing_turns
from collab.models.threads import Message
from collab.selectors import told
from permissions.actors import Actor, Agent, Source, System, author_key, source_of
from permissions.decisions import accounts_of
from permissions.grants import names_of

NEWEST = 200
"""Messages looked at, at most, when a history is assembled."""

MOST_WHOLE = 100
"""Messages given whole, at most; those of the rest that were looked at go into the summary before they are too old."""

SUMMARY_CHARS = 6_000
EXCERPT_CHARS = 160
_OWN, _OTHERS, _ENDS = 0, 1, 2
CHARS_A_TOKEN = 4
"""A rough count that errs on the high side for English; the budget needs no better."""

NOTE, EVENT = framing.register_tag("note"), framing.register_tag("event")
DOCUMENTS, PROPOSALS, SHARED = "documents", "your suggestions", "calls that others shared"
_FOR_ONE = {framing.open_tag(NOTE, about=DOCUMENTS): DOCUMENTS, framing.open_tag(NOTE, about=PROPOSALS): PROPOSALS}
"""How the notes begin that tell what only the author of their turn was let see."""


def context(turn: Turn, agent: AgentRow, names: Mapping[UUID, str]) -> list[ModelMessage]:
    """Return what came before a turn, oldest first, within its agent's budget of tokens.

    Args:
        names: accounts whose names are known already.
    """
    lineage = lineage_ids(turn)
    messages = list(
        Message.objects.filter(thread_id=turn.thread_id, seq__lt=turn.seq, waits=False, held_at=None, cancelled_at=None)
        .exclude(taken_by__in=lineage)
        .exclude(turn_id__in=lineage)
        .order_by("-seq")[:NEWEST]
    )
    whole = messages[:MOST_WHOLE]
    since = whole[-1].seq if whole else 0
    own, shared, ended = _earlier(turn, since=since)
    if not messages and not ended and not own and not shared:
        return []
    names = {**names, **_unknown_names([message.author for message in messages], names)}
    entries = [(message.seq, [_said(message, names)]) for message in whole]
    entries += [(seq, list(_calls_only(load(history)))) for seq, history in own]
    entries += [(one.seq, [ModelRequest(parts=[resolution(one.text)])]) for one in ended]
    entries += [(one.seq, [ModelRequest(parts=[_shared(one.text)])]) for one in shared]
    blocks, fits = _fitting(sorted(entries, key=itemgetter(0), reverse=True), agent.history_tokens * CHARS_A_TOKEN)
    older = [message for message in messages if message.seq < fits]
    summary = [_data(_summary(turn.thread_id, older, names))] if older else []
    return [*summary, *_flat(reversed(blocks))]


def _fitting(entries: Sequence[tuple[int, list[ModelMessage]]], budget: int) -> tuple[list[list[ModelMessage]], int]:
    """Return the newest blocks that fit into so many characters, and the seq of the oldest of them."""
    blocks: list[list[ModelMessage]] = []
    oldest = entries[0][0] + 1
    for seq, block in entries:
        budget -= _size(block)
        if budget < 0:
            break
        blocks.append(block)
        oldest = seq
    return blocks, oldest


def lineage_ids(turn: Turn) -> list[UUID]:
    """Return the ids of the turns that a turn descends from, itself among them."""
    if turn.root_id == turn.id:
        return [turn.id]
    return [*Turn.objects.filter(root_id=turn.root_id).values_list("id", flat=True)]


def opening(turn: Turn, took: Sequence[Message], names: Mapping[UUID, str]) -> list[ModelMessage]:
    """Return a new turn's own history: what it resumes, with the answers, then the messages it took as prompts."""
    before = resumed(turn) if turn.resumes_id else []
    prompts = [message for message in took if message.taken_as != Message.TakenAs.REPLY]
    return [*before, *([input_request(prompts, names)] if prompts else [])]


def input_request(took: Sequence[Message], names: Mapping[UUID, str]) -> ModelRequest:
    """Return a turn's own input: each message labelled with its speaker. Its metadata marks it as the input that this
    turn answers, and holds the bare texts."""
    parts = [UserPromptPart(labelled(message, names)) for message in took]
    return ModelRequest(parts=parts, metadata={"input": True, "texts": [message.content for message in took]})


def resumed(turn: Turn) -> list[ModelMessage]:
    """Return the history of the turn that ``turn`` resumes, with its questions answered; where another author goes
    on, the results that were fetched for the first stand as their outcomes."""
    before = turn.resumes
    if before is None:
        raise ValueError(f"{turn} resumes nothing")
    messages = load(before.history)
    if author_key(turn.origin) != author_key(before.origin):
        messages = [_without_results(message) for message in messages]
    questions = list(Question.objects.filter(turn=before).select_related("call"))
    names = _unknown_names([question.answered_by for question in questions], {})
    answers = [
        ToolReturnPart(
            tool_name=question.call.tool,
            tool_call_id=question.call.model_call_id,
            content={"answer": question.answer, "by": told(question.answered_by or System(), names)},
        )
        for question in questions
    ]
    return [*messages, ModelRequest(parts=answers)] if answers else messages


def load(text: str) -> list[ModelMessage]:
    """Read a history that a turn saved."""
    return ModelMessagesTypeAdapter.validate_json(text) if text else []


def dump(messages: Sequence[ModelMessage]) -> str:
    """Write a history as a turn saves it."""
    return ModelMessagesTypeAdapter.dump_json(list(messages)).decode()


def labelled(message: Message, names: Mapping[UUID, str]) -> str:
    """Return a message as the model reads it: a person's or client's words after their name, in which no tag of ours
    stands; anything else as data that cannot close its own frame."""
    speaker = name_of(message.author, names)
    if isinstance(message.author, Source):
        verified = OWN_CLOCK if message.client_id.startswith("timer:") else SIGNATURE
        event = framing.wrap(EVENT, message.content, **{"from": speaker}, verified=verified)
        return f"{event} (not written by a person)"
    if message.kind == Message.Kind.NOTICE:
        return framing.wrap(NOTE, message.content, about="notice", by=speaker)
    return f"{speaker}: {framing.neutralize_tags(message.content)}"


def name_of(actor: Actor, names: Mapping[UUID, str]) -> str:
    """Return how the model is told of an actor: on one line and without a tag, so that no name speaks for others."""
    return framing.neutralize_tags(" ".join(told(actor, names).split()))


_TOLD = (TextPart, ToolCallPart, ToolReturnPart, UserPromptPart)
"""The kinds of parts that are handed on to another author; a kind nobody thought of is not."""

_NOTHING: Mapping[type, Any] = {ModelRequest: UserPromptPart(""), ModelResponse: TextPart("")}


def note(text: str) -> UserPromptPart:
    """Return something that nobody typed, as labelled data."""
    return UserPromptPart(framing.wrap(NOTE, text, about=DOCUMENTS))


def account(text: str, *, about: str) -> ModelRequest:
    """Return an account of what was done, as labelled data, as a turn's own input."""
    part = UserPromptPart(framing.wrap(NOTE, text, about=about))
    return ModelRequest(parts=[part], metadata={"input": True, "texts": [about]})


def resolution(text: str) -> UserPromptPart:
    """Return what became of something the agent proposed, as labelled data."""
    return UserPromptPart(framing.wrap(NOTE, text, about=PROPOSALS))


def _shared(text: str) -> UserPromptPart:
    return UserPromptPart(framing.wrap(NOTE, text, about=SHARED))


def _unknown_names(actors: Sequence[Actor | None], known: Mapping[UUID, str]) -> dict[UUID, str]:
    """Return the names of accounts and sources among some actors that are not known; nothing is read where all are."""
    unknown = [actor for actor in actors if actor and not {*accounts_of(actor), source_of(actor)} <= {*known, None}]
    return names_of(*unknown) if unknown else {}


def _earlier(turn: Turn, *, since: int) -> tuple[list[tuple[int, str]], list[Shared], list[Resolution]]:
    """Return, in one query, the seq and the history of the earlier turns of the same author, whether they said anything
    or not; what was shared of others'; and what became of what the author's turns proposed. What went on from a turn
    holds its history, so no call is given twice."""
    earlier = of_author(turn).filter(seq__gte=since, seq__lt=turn.seq).exclude(root_id=turn.root_id)
    others = sharing_turns(turn, since=since).annotate(nothing=Value("", TextField()))
    ends = ends_logged(turn, after=since).filter(seq__lt=turn.seq).order_by()
    rows = earlier.values_list("root_id", "seq", "history", Value(_OWN)).union(
        others.values_list("id", "seq", "nothing", Value(_OTHERS)),
        ends.values_list("id", "seq", "data", Value(_ENDS)),
        all=True,
    )
    found: dict[int, list[tuple[UUID, int, str]]] = {_OWN: [], _OTHERS: [], _ENDS: []}
    for id, seq, text, which in rows:
        found[which].append((id, seq, text))
    newest = {root: (seq, history) for root, seq, history in sorted(found[_OWN], key=itemgetter(1))}
    return (
        list(newest.values()),
        shared_of([id for id, _, _ in found[_OTHERS]]),
        told_before(turn, [(seq, data) for _, seq, data in found[_ENDS]]),
    )


def _said(message: Message, names: Mapping[UUID, str]) -> ModelMessage:
    if isinstance(message.author, Agent):
        return ModelResponse(parts=[TextPart(message.content)])
    return ModelRequest(parts=[UserPromptPart(labelled(message, names))])


def _calls_only(history: Sequence[ModelMessage]) -> Iterable[ModelMessage]:
    """The calls of an earlier turn with their results: its words stand in the log's own messages. A call that was
    never answered is left out, since no history may end in one."""
    returned = {part.tool_call_id for message in history for part in message.parts if isinstance(part, ToolReturnPart)}
    for message in history:
        kept: list[Any] = [
            part
            for part in message.parts
            if isinstance(part, ToolReturnPart) or (isinstance(part, ToolCallPart) and part.tool_call_id in returned)
        ]
        if kept and isinstance(message, ModelResponse):
            yield replace(message, parts=kept)
        elif kept:
            yield ModelRequest(parts=kept)


def _without_results(message: ModelMessage) -> ModelMessage:
    """The message without what only its turn's person was let see; what a model thought about it, least of all."""
    parts: list[Any] = []
    for part in message.parts:
        changes: dict[str, Any] = {}
        if not isinstance(part, _TOLD):
            continue
        if isinstance(part, ToolCallPart):
            changes = {"args": "{}"}
        elif isinstance(part, ToolReturnPart):
            changes = {"content": _outcome(part.content)}
        elif isinstance(part, UserPromptPart) and (about := _for_one(part)):
            changes = {"content": framing.wrap(NOTE, "Something of them changed.", about=about)}
        parts.append(replace(part, **changes))
    changed: ModelMessage = replace(cast(Any, message), parts=parts or [_NOTHING[type(message)]])
    return changed


def _for_one(part: UserPromptPart) -> str | None:
    text = str(part.content)
    return next((about for start, about in _FOR_ONE.items() if text.startswith(start)), None)


def _outcome(content: object) -> str:
    told = content if isinstance(content, dict) else {}
    return next((outcome for outcome in ("refused", "failed", "unknown") if outcome in told), "done")


def _summary(thread_id: UUID, older: Sequence[Message], names: Mapping[UUID, str]) -> str:
    """Extend the thread's summary by what has just become too old to be given whole, and return it."""
    kept = Summary.objects.filter(pk=thread_id).first()
    upto = kept.upto_seq if kept else 0
    fresh = [message for message in reversed(older) if message.seq > upto]
    if not fresh:
        return kept.text if kept else ""
    lines = [f"{told(message.author, names)}: {_excerpt(message.content)}" for message in fresh]
    text = "\n".join([*([kept.text] if kept else []), *lines])[-SUMMARY_CHARS:]
    Summary.objects.update_or_create(pk=thread_id, defaults={"upto_seq": fresh[-1].seq, "text": text})
    return text


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT_CHARS else f"{line[:EXCERPT_CHARS]} …"


def _data(text: str) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(framing.wrap(NOTE, text, about="earlier in this thread, shortened"))])


def _size(block: Sequence[ModelMessage]) -> int:
    return sum(len(str(getattr(part, "content", part))) for message in block for part in message.parts)


def _flat(blocks: Iterable[list[ModelMessage]]) -> Iterable[ModelMessage]:
    return (message for block in blocks for message in block)
