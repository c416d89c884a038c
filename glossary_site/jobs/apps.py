from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class JobsConfig(AppConfig):
    name = "glossary_site.jobs"
    label = "jobs"
    verbose_name = _("Background work")
