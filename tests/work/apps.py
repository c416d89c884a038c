from django.apps import AppConfig


class WorkConfig(AppConfig):
    """Kinds of work for tests, registered the way every app registers its own."""

    name = "tests.work"
    label = "work"
