"""What a search compares: words, however they are written, and what a typed question means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collab.searches.snippets import LENGTH, Part, marked, snippet
from collab.searches.words import (
    LONGEST_WORD,
    MOST_WORDS,
    Question,
    Scope,
    asked,
    for_postgres,
    for_sqlite,
    words_of,
)
from permissions.ids import new_id


def told(parts: tuple[Part, ...]) -> str:
    return "".join(f"[{part.text}]" if part.hit else part.text for part in parts)


def question(text: str) -> Question:
    found = asked(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Book the Venue!", ["book", "the", "venue"]),
        ("Café, NAÏVE; Straße", ["cafe", "naive", "strasse"]),
        ("ΟΔΟΣ οδός", ["οδοσ", "οδοσ"]),
        ("Привет, МИР", ["привет", "мир"]),
        ("smørrebrød i Łódź", ["smorrebrod", "i", "lodz"]),
        ("e-mail: ben@studio.example/a_b", ["e", "mail", "ben", "studio", "example", "a", "b"]),
        ("３.5 ﬁve x²", ["3", "5", "five", "x2"]),
        ("東京へ", ["東", "京", "へ"]),
        ("co\u00adop\u200beration", ["cooperation"]),
        ("🎉 — … \u3000 «»", []),
        ("مُحَمَّد", ["محمد"]),
        ("क्या हिन्दी।", ["क्या", "हिन्दी"]),
    ],
)
def test_a_text_is_its_words_without_case_accents_and_signs(text, words):
    assert words_of(text) == words


def test_a_long_word_counts_by_its_beginning_and_a_long_text_by_its_first_words():
    assert words_of("x" * 5_000) == ["x" * LONGEST_WORD]
    assert len(words_of("a " * 20_000)) == MOST_WORDS


@pytest.mark.parametrize(
    ("text", "terms", "open_ended"),
    [
        ("launch din", (("launch",), ("din",)), True),
        ('"launch dinner"', (("launch", "dinner"),), False),
        ('"launch dinner', (("launch", "dinner"),), False),
        ("“launch dinner” fri", (("launch", "dinner"), ("fri",)), True),
        ("e-mail", (("e", "mail"),), True),
        ("plan b", (("plan",), ("b",)), False),
        ("東京", (("東", "京"),), True),
        (
            "budget NEAR(2) content:* -x OR ^y",
            (("budget",), ("near", "2"), ("content",), ("x",), ("or",), ("y",)),
            False,
        ),
        ("'; DROP TABLE collab_thread; --", (("drop",), ("table",), ("collab", "thread")), True),
    ],
)  # fmt: skip
def test_what_is_typed_asks_for_words_and_nothing_else(text, terms, open_ended):
    assert asked(text) == Question(terms, open_ended)


@pytest.mark.parametrize("text", ["", "   ", '"', '""', "* : ( ) \0", "🎉🎉", "\ud800", "' -- \\"])
def test_where_there_is_no_word_nothing_is_asked_for(text):
    assert asked(text) is None


@given(st.text(max_size=200))
def test_no_sign_reaches_a_database_but_those_that_quote(text):
    found = asked(text)
    if found is None:
        return
    words = [word for term in found.terms for word in term]
    assert not [word for word in words if set(word) & set("\0\"'\\:*&|!()<> \t\n")]
    place = Scope("m", new_id())
    assert for_sqlite(found, [place]).count('"') == 2 * len(found.terms)
    assert for_postgres(found, [place]).count("'") == 2 * len(words)


@given(st.text(max_size=300))
def test_a_text_is_found_by_each_of_its_words_and_a_snippet_keeps_what_it_says(text):
    words = words_of(text)
    for word in words[:5]:
        assert question(f'"{word}"').hits(word)
    whole = marked(text, question("launch"))
    assert "".join(part.text for part in whole) == text


def test_each_scope_asks_for_words_of_its_own():
    one, two = Scope("d", new_id()), Scope("d", new_id())
    text = for_sqlite(question('"big launch" din'), [one, two])
    assert text == f'("{one}big {one}launch" AND "{one}din"*) OR ("{two}big {two}launch" AND "{two}din"*)'
    assert for_postgres(question('"big launch" din'), [one]) == f"('{one}big' <-> '{one}launch' & '{one}din':*)"


class TestSnippets:
    def test_what_was_asked_for_is_marked_however_it_is_written(self):
        assert told(marked("The CAFÉ, cafés", question('"cafe"'))) == "The [CAFÉ], cafés"
        assert told(marked("The CAFÉ, cafés", question("cafe"))) == "The [CAFÉ], [cafés]"
        assert told(marked("去東京の", question("東京"))) == "去[東][京]の"

    def test_a_snippet_is_around_the_first_hit_on_one_line(self):
        text = f"{'before ' * 40}\n\nthe dinner\nis here {'after ' * 80}"
        found = told(snippet(text, question("dinner")))
        assert "before the [dinner] is here after" in found
        assert found.startswith("… before")
        assert found.endswith("after …")
        assert len(found) <= LENGTH + len("… [] …")

    def test_where_only_the_title_hits_the_snippet_is_the_beginning(self):
        assert told(snippet("Dinner on Friday.", question("launch"))) == "Dinner on Friday."
        assert told(snippet("", question("launch"))) == ""

    def test_a_hit_in_one_endless_word_is_still_cut(self):
        found = snippet("x" * 9_000, question("x"))
        assert sum(len(part.text) for part in found) <= LENGTH + 4

    def test_markup_stays_text(self):
        parts = marked("<img onerror=alert(1)> plan", question("img"))
        assert parts == (Part("<"), Part("img", hit=True), Part(" onerror=alert(1)> plan"))
