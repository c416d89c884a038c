from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class JobsConfig(AppConfig):
    name = "glossary_site.jobs"
    label = "jobs"
    verbose_name = _("Background work")

    def ready(self) -> None:
        # Each app's `jobs.py` registers the kinds of work it knows.
        autodiscover_modules("jobs")
