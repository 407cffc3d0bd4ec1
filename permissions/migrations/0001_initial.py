
import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.utils.timezone
import permissions.clock
import permissions.fields
import permissions.ids
from django.conf import settings
from django.db import migrations, models


CREATE_CLOCK = """
CREATE OR REPLACE FUNCTION accord_now() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
    SELECT clock_timestamp() + coalesce(nullif(current_setting('accord.clock_offset', true), ''), '0 seconds')::interval
$$
"""
DROP_CLOCK = "DROP FUNCTION accord_now()"

REFUSE_REWRITING = """
CREATE FUNCTION accord_grant_history_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the history of grants is append-only';
END
$$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON permissions_grantchange
    FOR EACH ROW EXECUTE FUNCTION accord_grant_history_is_append_only()
"""
ALLOW_REWRITING = """
DROP TRIGGER append_only ON permissions_grantchange;
DROP FUNCTION accord_grant_history_is_append_only()
"""


def on_postgresql(sql):
    def run(apps, schema_editor):
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(sql, params=None)

    return run


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        # Columns of this and later migrations default to the database's clock.
        migrations.RunPython(on_postgresql(CREATE_CLOCK), on_postgresql(DROP_CLOCK)),
        migrations.CreateModel(
            name='User',
            fields=[
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('id', models.UUIDField(default=permissions.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('person', 'person'), ('agent', 'agent'), ('client', 'client')], default='person', max_length=10)),
                ('display_name', models.CharField(blank=True, max_length=100)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': 'account',
                'verbose_name_plural': 'accounts',
                'abstract': False,
            },
            managers=[
                ('objects', django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name='GrantChange',
            fields=[
                ('id', models.UUIDField(default=permissions.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('by', permissions.fields.ActorField(max_length=200)),
                ('codename', models.CharField(max_length=100)),
                ('given', models.BooleanField()),
                ('through', models.CharField(blank=True, help_text='The group that was joined or left.', max_length=150)),
                ('object_kind', models.CharField(help_text='The model, like collab.document.', max_length=100)),
                ('object_id', models.UUIDField()),
                ('scope_id', models.UUIDField()),
                ('expires_at', models.DateTimeField(null=True)),
                ('reason', models.TextField(blank=True)),
                ('epoch', models.BigIntegerField(help_text="The scope's grants epoch that this change began.")),
                ('at', models.DateTimeField(db_default=permissions.clock.AccordNow(), editable=False)),
                ('account', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('group', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='auth.group')),
            ],
            options={
                'default_permissions': ('view',),
            },
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['person', 'agent', 'client'])), name='an_account_is_of_a_known_kind'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('kind', 'person'), ('password__startswith', '!'), _connector='OR'), name='only_people_have_passwords'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('kind', 'person'), models.Q(('is_staff', False), ('is_superuser', False)), _connector='OR'), name='only_people_are_staff'),
        ),
        migrations.AddIndex(
            model_name='grantchange',
            index=models.Index(fields=['scope_id', '-at'], name='grant_changes_of_a_scope'),
        ),
        migrations.AddIndex(
            model_name='grantchange',
            index=models.Index(fields=['object_id', '-at'], name='grant_changes_of_an_object'),
        ),
        migrations.AddIndex(
            model_name='grantchange',
            index=models.Index(fields=['account', '-at'], name='grant_changes_of_an_account'),
        ),
        migrations.AddIndex(
            model_name='grantchange',
            index=models.Index(fields=['group', '-at'], name='grant_changes_of_a_group'),
        ),
        migrations.AddConstraint(
            model_name='grantchange',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('account__isnull', True), ('group__isnull', False)), models.Q(('account__isnull', False), ('group__isnull', True)), _connector='OR'), name='a_grant_has_one_holder'),
        ),
        migrations.RunPython(on_postgresql(REFUSE_REWRITING), on_postgresql(ALLOW_REWRITING)),
    ]
