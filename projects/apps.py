from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class ProjectsConfig(AppConfig):
    name = "projects"
    verbose_name = _("Projects")

    def ready(self) -> None:
        # Apps above this one enter what they add to it (`followers.py`, `glance.py`, …) in an
        # `additions.py`.
        autodiscover_modules("additions")
