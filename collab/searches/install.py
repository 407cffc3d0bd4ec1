"""The database's part of search: triggers that keep the words in the transaction of the row they are of.

On PostgreSQL a function folds a text into a ``tsvector``; on SQLite each connection has that function from Python, and
an FTS5 table indexes what it returns. SQLite loses a table's triggers when a migration rebuilds the table, so they are
looked at after every ``migrate``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from string import Template
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from collab.searches.words import (
    ALONE,
    DROPPED,
    FOLDED,
    LETTERS,
    LONGEST_WORD,
    MOST_WORDS,
    PAIRS,
    SCOPE,
    SEPARATORS,
    stored,
)

TABLE = "collab_searched"
WORDS_TABLE = "collab_searched_words"


EVERY = Template("TRUE")


@dataclass(frozen=True, slots=True)
class Kept:
    """Rows whose words are kept.

    Attributes:
        table: whose rows; ``reads``: the columns whose change changes their words.
        keys: the columns of a row of words that say whose it is; ``values``: what they hold, and the words, for $row.
        found: which rows have words at all; ``gone``: which row of words is of the OLD row.
    """

    table: str
    reads: str
    keys: str
    values: Template
    gone: str
    found: Template = EVERY


KEPT = (
    Kept(
        "collab_thread",
        reads="title",
        keys="thread_id",
        values=Template("$row.id, accord_words('t', $row.workspace_id, $row.title)"),
        gone="thread_id = OLD.id AND message_id IS NULL",
    ),
    Kept(
        "collab_message",
        reads="content, cancelled_at",
        keys="thread_id, message_id",
        values=Template(
            "$row.thread_id, $row.id,"
            " accord_words('m', (SELECT workspace_id FROM collab_thread WHERE id = $row.thread_id), $row.content)"
        ),
        gone="message_id = OLD.id",
        found=Template("$row.cancelled_at IS NULL"),
    ),
    Kept(
        "collab_document",
        reads="title, text",
        keys="document_id",
        values=Template("$row.id, accord_words('d', $row.workspace_id, $row.title || ' ' || $row.text)"),
        gone="document_id = OLD.id",
    ),
)

_ADD = Template("INSERT INTO $words ($keys, words) SELECT $values WHERE $found")
_FILL = Template("INSERT INTO $words ($keys, words) SELECT $values FROM $table one WHERE $found ORDER BY one.id")
_REMOVE = Template("DELETE FROM $words WHERE $gone")


def prepare_connection(*, connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Give a new connection of SQLite the function that its triggers call (a receiver of ``connection_created``)."""
    if connection.vendor == "sqlite":
        connection.connection.create_function("accord_words", 3, stored, deterministic=True)


def restore_triggers(*, using: str, **_: Any) -> None:
    """Put back the triggers that a migration took with a table it rebuilt (a receiver of ``post_migrate``)."""
    connection = connections[using]
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE name LIKE %s", [f"{TABLE}%"])
        there = dict(cursor.fetchall())
        if WORDS_TABLE in there:
            for name, statement in sqlite_triggers().items():
                if there.get(name) != statement:
                    cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
                    cursor.execute(statement)


def statements(connection: BaseDatabaseWrapper) -> Iterator[str]:
    """Yield what makes a database keep the words of rows that are written from here on."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_collation WHERE collname = 'und-x-icu'")
            unicode_case = cursor.fetchone() is not None
        yield _postgres_words(unicode_case=unicode_case)
        yield Template(
            "CREATE INDEX ${words}_found ON $words USING gin (words) WITH (gin_pending_list_limit = 256)"
        ).substitute(words=TABLE)
        for kept in KEPT:
            yield _POSTGRES_FUNCTION.substitute(table=kept.table, add=_add(kept), remove=_remove(kept))
            yield _POSTGRES_TRIGGER.substitute(table=kept.table, reads=kept.reads)
    else:
        yield _SQLITE_WORDS.substitute(words=TABLE, table=WORDS_TABLE)
        yield from sqlite_triggers().values()


def fillings() -> Iterator[str]:
    """Yield what gives words to the rows there are, oldest first."""
    for kept in KEPT:
        values, found = (part.substitute(row="one") for part in (kept.values, kept.found))
        yield _FILL.substitute(words=TABLE, keys=kept.keys, values=values, table=kept.table, found=found)


def removals(vendor: str) -> Iterator[str]:
    """Yield what takes the database's part away again."""
    if vendor == "postgresql":
        yield from (f"DROP FUNCTION {kept.table}_searched() CASCADE" for kept in KEPT)
        yield "DROP FUNCTION accord_words(text, uuid, text)"
    else:
        yield from (f"DROP TRIGGER {name}" for name in sqlite_triggers())
        yield f"DROP TABLE {WORDS_TABLE}"


def sqlite_triggers() -> dict[str, str]:
    """Return the triggers of a SQLite database, by name."""
    found = {}
    for kept in KEPT:
        for event, body in (
            ("INSERT", (_add(kept),)),
            (f"UPDATE OF {kept.reads}", (_remove(kept), _add(kept))),
            ("DELETE", (_remove(kept),)),
        ):
            name = f"{TABLE}_{event.split()[0].lower()}_{kept.table}"
            found[name] = _trigger(name, event, kept.table, *body)
    indexed = Template("INSERT INTO $index (rowid, words) VALUES (NEW.id, NEW.words)").substitute(index=WORDS_TABLE)
    dropped = Template("INSERT INTO $index ($index, rowid, words) VALUES ('delete', OLD.id, OLD.words)")
    for event, change in (("INSERT", indexed), ("DELETE", dropped.substitute(index=WORDS_TABLE))):
        name = f"{TABLE}_{event.lower()}"
        found[name] = _trigger(name, event, TABLE, change)
    return found


def _add(kept: Kept) -> str:
    values, found = (part.substitute(row="NEW") for part in (kept.values, kept.found))
    return _ADD.substitute(words=TABLE, keys=kept.keys, values=values, found=found)


def _remove(kept: Kept) -> str:
    return _REMOVE.substitute(words=TABLE, gone=kept.gone)


def _trigger(name: str, event: str, table: str, *body: str) -> str:
    return f"CREATE TRIGGER {name} AFTER {event} ON {table} BEGIN {'; '.join(body)}; END"


def _postgres_words(*, unicode_case: bool) -> str:
    """Return the function that folds as :func:`collab.searches.words.words_of` does. A database without ICU makes
    only those letters small that its own locale knows."""
    folded = "translate(regexp_replace(lower(normalize(left(body, $most), NFKD)$locale), '[$dropped]+', '', 'g'), $one)"
    for pair, letters in PAIRS.items():
        folded = f"replace({folded}, '{pair}', '{letters}')"
    one = f"'{''.join(LETTERS)}', '{''.join(LETTERS.values())}'"
    locale = ' COLLATE "und-x-icu"' if unicode_case else ""
    read = Template(folded).substitute(most=FOLDED, locale=locale, dropped=DROPPED, one=one)
    return _POSTGRES_WORDS.substitute(
        folded=read, most=FOLDED, alone=ALONE, separators=SEPARATORS, scope=SCOPE, longest=LONGEST_WORD,
        words=MOST_WORDS,
    )  # fmt: skip


# The tokens of FTS5's "ascii" are runs of ASCII letters, digits and everything beyond ASCII: with words that are folded
# already and stand between spaces, exactly the words.
_SQLITE_WORDS = Template(
    "CREATE VIRTUAL TABLE $table USING fts5(words, content='$words', content_rowid='id', tokenize='ascii')"
)

# No text search configuration takes part: the words come with their places, as text, and are cast.
_POSTGRES_WORDS = Template(r"""
CREATE FUNCTION accord_words(letter text, workspace uuid, body text) RETURNS tsvector
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$words$$
SELECT coalesce(string_agg(
    '''' || letter || right(workspace::text, $scope) || left(word, $longest) || ''':' || place, ' '), '')::tsvector
FROM unnest(string_to_array(trim(regexp_replace(
    regexp_replace(left($folded, $most), '([$alone])', ' \1 ', 'g'), '[$separators]+', ' ', 'g')), ' '))
    WITH ORDINALITY AS split(word, place)
WHERE word <> '' AND place <= $words
$$words$$
""")

_POSTGRES_FUNCTION = Template("""
CREATE FUNCTION ${table}_searched() RETURNS trigger LANGUAGE plpgsql AS $$body$$
BEGIN
    IF TG_OP <> 'INSERT' THEN $remove; END IF;
    IF TG_OP <> 'DELETE' THEN $add; END IF;
    RETURN NULL;
END
$$body$$
""")

_POSTGRES_TRIGGER = Template("""
CREATE TRIGGER ${table}_is_searched AFTER INSERT OR UPDATE OF $reads OR DELETE ON $table
FOR EACH ROW EXECUTE FUNCTION ${table}_searched()
""")
