"""Searching: what one may view is found at once and for as long as it is there, and nothing else shows (promise 10)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection, transaction

from collab.errors import Invalid
from collab.models.documents import Document
from collab.models.searches import Searched
from collab.models.threads import Message, Thread
from collab.search import MOST_COUNTED, MOST_WORKSPACES, Kind, found, question, workspaces_in_reach
from collab.searches.install import KEPT, TABLE, restore_triggers, sqlite_triggers
from collab.searches.words import FOLDED, words_of
from collab.services.documents import document_archive, document_create, document_edit
from collab.services.messages import message_cancel, message_post
from collab.services.threads import thread_archive, thread_create, thread_rename
from collab.services.workspaces import member_remove, workspace_create
from permissions.actors import Actor
from permissions.ids import new_id
from permissions.services import grant_give
from tests.support import cast
from tests.support.cast import Studio
from tests.support.turns import posts

pytestmark = pytest.mark.django_db

NASTY = (
    '"', '""', '"""', "'", "\\", "\0", "\ud800", "*", "a*", "NEAR(a b)", "NEAR/2", "words:launch", "-launch", "^launch",
    "launch AND", "OR OR", "NOT", "(launch", "launch)", "{a b}: c", "+ +", "🎉", "🎉 launch", ":*", "a & b | !c", "<->",
    "'launch':*A", "\u202elaunch", "launch\tdinner\r\n", "%s %(x)s", "'; DELETE FROM collab_message; --", "ﷺ" * 60,
    "a " * 100, "東京" * 100, '"' + "w " * 99, "x" * 200, "1e5 -3 0x1f 3.5e-2", "ben@studio.example/a_b?c=d",
)  # fmt: skip


def hits(actor: Actor, text: str, kind: Kind = Kind.MESSAGES, **options) -> list[str]:
    """Return what is found: the texts of messages, the titles of threads and documents."""
    wanted = question(text)
    if wanted is None:
        return []
    group = found(actor, wanted, kind, workspaces_in_reach(actor), **options)
    assert group.total == len(group.hits) or group.next or "before" in options
    return [
        hit.message.content if hit.message else hit.document.title if hit.document else hit.thread.title
        for hit in group.hits
    ]


def everything(actor: Actor, text: str) -> list[object]:
    """Return all that a search says: of each kind the results as they are shown, how many, and where the next begin."""
    wanted = question(text)
    reach = workspaces_in_reach(actor)
    return [[place.pk for place in reach], *(found(actor, wanted, kind, reach, limit=2) for kind in Kind)]


class TestWhatIsFound:
    def test_messages_comments_and_replies_are_found_by_their_words(self, studio: Studio):
        posts(studio.ana, studio.thread, "Shall we book the Café?")
        message_post(
            actor=studio.ben.actor, thread=studio.thread.id, content="The cafe is shut", client_id="c", kind="comment"
        )
        assert hits(studio.vera.actor, "cafe") == ["The cafe is shut", "Shall we book the Café?"]
        assert hits(studio.vera.actor, "CAFÉ book") == ["Shall we book the Café?"]
        assert hits(studio.vera.actor, "boo caf") == []
        assert hits(studio.vera.actor, "book caf") == ["Shall we book the Café?"]
        assert hits(studio.vera.actor, '"the cafe"') == ["The cafe is shut", "Shall we book the Café?"]
        assert hits(studio.vera.actor, '"cafe the"') == []
        assert hits(studio.vera.actor, "tea") == []

    @pytest.mark.parametrize(
        ("text", "asked"),
        [
            ("Привет, Мир", "мир"),
            ("ΟΔΟΣ", "οδος"),
            ("Straße nach Łódź", "strasse lodz"),
            ("来週東京で会う", "東京"),
            ("ส่งเมนูให้เชฟ", "เมนู"),
            ("한국어 메뉴", "한국"),
            ("مُحَمَّد هنا", "محمد"),
            ("ﬁve ３ courses", '"five 3"'),
            ("see ben@studio.example", "studio.example"),
        ],
    )
    def test_words_of_many_languages_are_found_however_they_are_written(self, studio: Studio, text: str, asked: str):
        posts(studio.ana, studio.thread, text)
        assert hits(studio.ben.actor, asked) == [text]

    def test_documents_are_found_by_title_and_text_of_their_newest_version(self, studio: Studio):
        assert hits(studio.vera.actor, "launch pl", Kind.DOCUMENTS) == ["Launch plan"]
        assert hits(studio.vera.actor, "budget 900", Kind.DOCUMENTS) == ["Launch plan"]
        document_edit(actor=studio.ben.actor, document=studio.document.id, edits=[{"find": "900", "replace": "950"}])
        assert hits(studio.vera.actor, "900", Kind.DOCUMENTS) == []
        assert hits(studio.vera.actor, "950", Kind.DOCUMENTS) == ["Launch plan"]
        document_create(
            actor=studio.ana.actor,
            workspace=studio.workspace.id,
            title="Shopping",
            kind="checklist",
            text="- [ ] Candles",
        )
        assert hits(studio.vera.actor, "candle", Kind.DOCUMENTS) == ["Shopping"]
        document_edit(actor=studio.ben.actor, document=studio.document.id, edits=[{"append": "Candles."}])
        assert hits(studio.vera.actor, "candle", Kind.DOCUMENTS) == ["Launch plan", "Shopping"]

    def test_threads_are_found_by_their_title_of_now(self, studio: Studio):
        assert hits(studio.vera.actor, "dinner", Kind.THREADS) == ["Launch dinner"]
        thread_rename(actor=studio.ana.actor, thread=studio.thread.id, title="Supper")
        assert hits(studio.vera.actor, "dinner", Kind.THREADS) == []
        assert hits(studio.vera.actor, "supper", Kind.THREADS) == ["Supper"]

    def test_what_was_cancelled_is_not_found_and_what_is_archived_only_when_asked_for(self, studio: Studio):
        ana = studio.ana.actor
        gone = posts(studio.ana, studio.thread, "candles, never mind")
        message_cancel(actor=ana, message=gone.id)
        posts(studio.ana, studio.thread, "candles")
        assert hits(ana, "candles") == ["candles"]
        document_archive(actor=ana, document=studio.document.id)
        message_cancel(actor=ana, message=posts(studio.ana, studio.thread, "x").id)
        thread_archive(actor=ana, thread=studio.thread.id, archived=True)
        assert [hits(ana, "candles"), hits(ana, "launch", Kind.THREADS), hits(ana, "launch", Kind.DOCUMENTS)] == [
            []
        ] * 3
        assert hits(ana, "candles", archived=True) == ["candles"]
        assert hits(ana, "launch", Kind.THREADS, archived=True) == ["Launch dinner"]
        assert hits(ana, "launch", Kind.DOCUMENTS, archived=True) == ["Launch plan"]

    @pytest.mark.corrupts
    def test_what_was_erased_is_not_found_whoever_erased_it(self, studio: Studio):
        message = posts(studio.ana, studio.thread, "my number is 5551234")
        Message.objects.filter(pk=message.id).update(content="", salt="")
        assert hits(studio.ana.actor, "5551234") == []

    def test_what_a_transaction_takes_back_was_never_found(self, studio: Studio):
        with transaction.atomic():
            posts(studio.ana, studio.thread, "candles")
            assert hits(studio.ana.actor, "candles") == ["candles"]
            transaction.set_rollback(True)
        assert hits(studio.ana.actor, "candles") == []

    def test_the_newest_comes_first_and_pages_hold_each_result_once(self, studio: Studio):
        texts = [f"candle {number}" for number in range(5)]
        for text in texts:
            posts(studio.ana, studio.thread, text)
        reach, wanted = workspaces_in_reach(studio.ben.actor), question("candle")
        seen, before = [], None
        while True:
            group = found(studio.ben.actor, wanted, Kind.MESSAGES, reach, before=before, limit=2)
            assert group.total == 5
            seen += [hit.message.content for hit in group.hits]
            before = group.next
            if before is None:
                break
        assert seen == texts[::-1]

    def test_results_are_counted_so_far_and_no_further(self, studio: Studio):
        Message.objects.bulk_create(_message(studio, f"candle {number}") for number in range(MOST_COUNTED + 5))
        group = found(studio.ben.actor, question("candle"), Kind.MESSAGES, workspaces_in_reach(studio.ben.actor))
        assert group.total == MOST_COUNTED + 1
        Searched.objects.filter(message__isnull=False).delete()
        Message.objects.all().delete()


class TestNobodyElsesWords:
    @pytest.fixture
    def hidden(self, studio: Studio) -> Callable[[], None]:
        """What hides candles everywhere that only Ana may view."""

        def hide() -> None:
            ana = studio.ana.actor
            place = workspace_create(actor=ana, name="Candles")
            thread = thread_create(actor=ana, workspace=place.id, title="Candles")
            for number in range(3):
                message_post(actor=ana, thread=thread.id, content=f"candles {number}", client_id=f"{number}")
            document_create(actor=ana, workspace=place.id, title="Candles", kind="markdown", text="candles candles")

        return hide

    @pytest.mark.parametrize("who", ["zoe", "vera", "ben"])
    def test_a_hit_one_may_not_view_changes_nothing_at_all(self, studio: Studio, zoe: cast.Someone, hidden, who: str):
        for number in range(3):
            posts(studio.ana, studio.thread, f"candles {number}")
        reader = zoe if who == "zoe" else getattr(studio, who)
        before = everything(reader.actor, "cand")
        hidden()
        assert everything(reader.actor, "cand") == before
        assert sum(group.total for group in before[1:]) == (0 if who == "zoe" else 3)
        assert sum(group.total for group in everything(studio.ana.actor, "cand")[1:]) == 8

    def test_who_holds_a_grant_on_one_thread_finds_that_thread_and_no_other(self, studio: Studio, zoe: cast.Someone):
        ana = studio.ana.actor
        posts(studio.ana, studio.thread, "candles here")
        grant_give(by=ana, holder=zoe.user, codename="view", obj=studio.thread)
        before = everything(zoe.actor, "candles")
        other = thread_create(actor=ana, workspace=studio.workspace.id, title="Candles")
        message_post(actor=ana, thread=other.id, content="candles there", client_id="1")
        document_create(actor=ana, workspace=studio.workspace.id, title="Candles", kind="markdown")
        assert everything(zoe.actor, "candles") == before
        assert hits(zoe.actor, "candles") == ["candles here"]
        assert hits(zoe.actor, "launch", Kind.THREADS) == ["Launch dinner"]
        assert hits(zoe.actor, "launch", Kind.DOCUMENTS) == []

    def test_who_holds_a_grant_on_one_document_finds_that_document_alone(self, studio: Studio):
        member_remove(actor=studio.ana.actor, workspace=studio.workspace.id, user=studio.ben.id)
        assert [hits(studio.ben.actor, "launch", kind) for kind in Kind] == [[], [], []]
        grant_give(by=studio.ana.actor, holder=studio.ben.user, codename="view", obj=studio.document)
        posts(studio.ana, studio.thread, "launch")
        document_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Launch music", kind="markdown")
        assert [hits(studio.ben.actor, "launch", kind) for kind in Kind] == [[], ["Launch plan"], []]
        group = found(studio.ben.actor, question("launch"), Kind.DOCUMENTS, workspaces_in_reach(studio.ben.actor))
        assert [hit.thread for hit in group.hits] == [None]

    def test_an_agent_finds_what_it_and_its_person_may_both_view(self, studio: Studio, zoe: cast.Someone):
        posts(studio.ana, studio.thread, "candles")
        assert hits(studio.robin.acting_for(studio.vera, studio.thread), "candles") == ["candles"]
        assert hits(studio.robin.acting_for(zoe, studio.thread), "candles") == []

    def test_a_page_behind_a_result_of_others_is_no_different_from_one_behind_any_id(self, studio: Studio, zoe):
        theirs = posts(studio.ana, studio.thread, "candles")
        place = workspace_create(actor=zoe.actor, name="Zoe's own")
        thread = thread_create(actor=zoe.actor, workspace=place.id, title="Mine")
        message_post(actor=zoe.actor, thread=thread.id, content="candles of mine", client_id="1")
        message_post(actor=zoe.actor, thread=thread.id, content="more candles", client_id="2")
        newest = Message.objects.get(content="more candles")
        assert hits(zoe.actor, "candles", before=newest.id) == ["candles of mine"]
        assert hits(zoe.actor, "candles", before=theirs.id) == []
        assert hits(zoe.actor, "candles", before=new_id()) == []

    def test_only_the_words_of_workspaces_in_reach_are_walked(self, studio: Studio, zoe: cast.Someone):
        posts(studio.ana, studio.thread, "candles")
        reach = workspaces_in_reach(studio.ana.actor)
        assert found(studio.ana.actor, question("candles"), Kind.MESSAGES, reach).total == 1
        elsewhere = workspace_create(actor=studio.ana.actor, name="Elsewhere")
        assert found(studio.ana.actor, question("candles"), Kind.MESSAGES, [elsewhere]).total == 0
        assert found(zoe.actor, question("candles"), Kind.MESSAGES, reach).total == 0


class TestWhatIsTyped:
    @pytest.mark.parametrize("text", NASTY)
    def test_nothing_that_is_typed_breaks_or_finds_more(self, studio: Studio, text: str):
        posts(studio.ana, studio.thread, "hello")
        for kind in Kind:
            assert hits(studio.vera.actor, text, kind) in ([], ["Launch dinner"], ["Launch plan"])

    def test_a_question_that_is_too_long_is_refused(self):
        with pytest.raises(Invalid, match="10,000 characters; at most 200"):
            question("a" * 10_000)

    def test_the_longest_question_over_the_most_workspaces_is_answered(self, studio: Studio):
        for number in range(MOST_WORKSPACES + 1):
            place = workspace_create(actor=studio.ana.actor, name=f"Place {number}")
            thread_create(actor=studio.ana.actor, workspace=place.id, title="a b c d e f g h")
        reach = workspaces_in_reach(studio.ana.actor)
        assert len(reach) == MOST_WORKSPACES + 1
        group = found(studio.ana.actor, question("a b c d e f g h " * 12), Kind.THREADS, reach, limit=3)
        assert (group.total, len(group.hits)) == (MOST_WORKSPACES, 3)

    @pytest.mark.parametrize(
        "text",
        ["word " * 6_000, "ﷺ" * 10_000, "".join(map(chr, range(0x20000, 0x22000))), "x" * 32_000, "\n" * 9 + "a"],
    )
    def test_whatever_may_be_posted_can_be_kept(self, studio: Studio, text: str):
        posts(studio.ana, studio.thread, text[: 32_768 // len(text[0].encode())])

    def test_the_longest_document_of_the_most_words_can_be_kept_and_its_end_is_beyond_search(self, studio: Studio):
        text = " ".join(f"{number:x}" for number in range(45_000))[:260_000]
        document_create(actor=studio.ana.actor, workspace=studio.workspace.id, title="Long", kind="markdown", text=text)
        assert hits(studio.ana.actor, '"a b c"', Kind.DOCUMENTS) == ["Long"]
        assert len(text) > FOLDED
        assert hits(studio.ana.actor, '"afc0"', Kind.DOCUMENTS) == []


class TestTheDatabase:
    def test_both_databases_fold_alike(self, studio: Studio):
        """What the database keeps of a text is what Python says its words are."""
        for text in (
            *NASTY,
            "Straße ŁÓDŹ ΟΔΟΣ ½ Å ﬁ ① ™ İstanbul ıı ÆŒ",
            "मुझे ข้อความ 東京タワー 한국어",
            "a\u0301b\u200dc",
        ):
            clean = text.replace("\0", "").encode("utf-8", "replace").decode()
            thread = Thread.objects.create(workspace=studio.workspace, title=clean[:200])
            words = Searched.objects.get(thread=thread, message=None).words
            assert _words(words) == set(words_of(clean[:200])), text
            thread.delete()

    def test_rows_that_are_deleted_take_their_words_along(self, studio: Studio):
        lost = Thread.objects.create(workspace=studio.workspace, title="Candles")
        assert hits(studio.ana.actor, "candles", Kind.THREADS) == ["Candles"]
        Thread.objects.filter(pk=lost.pk)._raw_delete(using="default")
        Document.objects.filter(
            pk=Document.objects.create(workspace=studio.workspace, title="Candles", kind="markdown", data={}).pk
        )._raw_delete(using="default")
        assert Searched.objects.count() == 2
        assert hits(studio.ana.actor, "candles", Kind.THREADS) == []

    @pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite rebuilds tables")
    def test_triggers_that_a_rebuilt_table_lost_come_back(self, studio: Studio):
        names = set(sqlite_triggers())
        assert len(names) == 3 * len(KEPT) + 2
        with connection.cursor() as cursor:
            for name in names:
                cursor.execute(f"DROP TRIGGER {name}")
        restore_triggers(using="default")
        with connection.cursor() as cursor:
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE %s", [f"{TABLE}%"])
            assert {name for (name,) in cursor.fetchall()} == names
        posts(studio.ana, studio.thread, "candles")
        assert hits(studio.ana.actor, "candles") == ["candles"]


def test_a_search_sends_as_many_statements_however_much_it_finds(studio: Studio, queries):
    counts = set()
    for _ in range(3):
        for number in range(4):
            posts(studio.ana, studio.thread, f"candles {number}")
        with queries() as sent:
            reach = workspaces_in_reach(studio.vera.actor)
            found(studio.vera.actor, question("candles"), Kind.MESSAGES, reach, limit=2)
        counts.add(len(sent))
    assert counts == {4}


def _message(studio: Studio, text: str) -> Message:
    id = new_id()
    return Message(
        id=id, thread=studio.thread, seq=1_000_000 + id.int % 10**9, kind="comment", author=studio.ana.actor,
        author_key=f"x:{id}", client_id="x", content=text, salt="", posted_at=studio.thread.created_at,
    )  # fmt: skip


def _words(kept: str) -> set[str]:
    """Return the words of a row, without scope and places."""
    if connection.vendor == "postgresql":
        kept = " ".join(lexeme.rsplit(":", 1)[0].strip("'") for lexeme in kept.split(" ") if lexeme)
    return {word[9:] for word in kept.split(" ") if word}
