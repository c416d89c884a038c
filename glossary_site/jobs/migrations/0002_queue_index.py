from django.db import migrations


class Migration(migrations.Migration):
    """With the database as broker, each lane asks for the oldest task of its own key. The table is
    django-q2's, which has no index for it: with much work waiting in one lane, the other would read
    through all of it."""

    dependencies = [("jobs", "0001_initial"), ("django_q", "0019_alter_task_options_alter_ormq_key_alter_ormq_lock_and_more")]

    operations = [
        migrations.RunSQL(
            "CREATE INDEX jobs_queue_of_a_lane ON django_q_ormq (key, id)",
            "DROP INDEX jobs_queue_of_a_lane",
        )
    ]
