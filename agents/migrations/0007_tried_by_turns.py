from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0006_clients")]

    operations = [
        migrations.AddField(
            model_name="delivery",
            name="tried_at",
            field=models.DateTimeField(help_text="When the sweep last tried to act on it.", null=True),
        ),
        migrations.AddField(
            model_name="timer",
            name="tried_at",
            field=models.DateTimeField(help_text="When it was last found due.", null=True),
        ),
    ]
