import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("lab", "0002_measures"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="own_version",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.CreateModel(
            name="OwnExperiment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60, unique=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("hidden_at", models.DateTimeField(blank=True, null=True)),
                ("hidden_by", models.CharField(blank=True, max_length=150)),
            ],
            options={"ordering": ("name",)},
        ),
        migrations.CreateModel(
            name="OwnVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("n", models.PositiveIntegerField()),
                ("spec", models.JSONField()),
                ("digest", models.CharField(max_length=64)),
                ("saved_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("saved_who", models.CharField(blank=True, max_length=150)),
                ("experiment", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="versions", to="lab.ownexperiment")),
                ("saved_by", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ("experiment_id", "-n"),
                "constraints": [models.UniqueConstraint(fields=("experiment", "n"), name="own_version_once")],
            },
        ),
    ]
