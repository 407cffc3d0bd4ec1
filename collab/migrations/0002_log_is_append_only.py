"""On PostgreSQL the database itself refuses to change or delete an event; emptying whole tables stays possible."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

REFUSE = """
CREATE FUNCTION accord_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the log is append-only: % on % is refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END
$$
"""
GUARD = """
CREATE TRIGGER collab_event_is_append_only BEFORE UPDATE OR DELETE ON collab_event
FOR EACH STATEMENT EXECUTE FUNCTION accord_refuse_change()
"""


def refuse_changes(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(REFUSE, params=None)
        schema_editor.execute(GUARD, params=None)


def allow_changes(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP TRIGGER collab_event_is_append_only ON collab_event")
        schema_editor.execute("DROP FUNCTION accord_refuse_change()")


class Migration(migrations.Migration):
    dependencies = [("collab", "0001_initial")]

    operations = [migrations.RunPython(refuse_changes, allow_changes)]
