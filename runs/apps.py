from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RunsConfig(AppConfig):
    """What it adds to the projects below it is in `additions.py`."""

    name = "runs"
    verbose_name = _("Runs")
