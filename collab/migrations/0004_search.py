"""What is searched: documents keep their text, and triggers keep the words of texts; those there are get theirs here."""

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import collab.models.searches
from collab.kind import BadData, UnknownKind
from collab.kinds import KINDS
from collab.searches import install


def write_texts(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    documents = apps.get_model("collab", "Document").objects
    for id, kind, data in documents.values_list("pk", "kind", "data").iterator():
        try:
            text = KINDS.named(kind).to_text(data)
        except (BadData, UnknownKind):
            continue  # nobody can open it either
        documents.filter(pk=id).update(text=text)


def keep_words(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for statement in (*install.statements(schema_editor.connection), *install.fillings()):
        schema_editor.execute(statement, params=None)


def keep_no_words(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for statement in install.removals(schema_editor.connection.vendor):
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("collab", "0003_accepted_with_edits_and_delegations")]

    operations = [
        migrations.AddField(
            model_name="document",
            name="text",
            field=models.TextField(blank=True, db_default="", default="", help_text="The data as text of its kind."),
        ),
        migrations.CreateModel(
            name="Searched",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "document",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="collab.document",
                    ),
                ),
                (
                    "message",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="collab.message",
                    ),
                ),
                (
                    "thread",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="collab.thread",
                    ),
                ),
                ("words", collab.models.searches.WordsField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("message__isnull", True)), fields=("thread",), name="one_row_a_title"
                    )
                ]
            },
        ),
        migrations.RunPython(write_texts, migrations.RunPython.noop),
        migrations.RunPython(keep_words, keep_no_words),
    ]
