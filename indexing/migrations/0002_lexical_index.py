from django.db import migrations

from indexing.lexical import schema


def create(apps, schema_editor):
    schema.create(schema_editor.connection)


def drop(apps, schema_editor):
    schema.drop(schema_editor.connection)


class Migration(migrations.Migration):

    dependencies = [
        ('indexing', '0001_initial'),
    ]

    operations = [
        migrations.RunPython(create, drop),
    ]
