from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CollectionConfig(AppConfig):
    """What it adds to the projects below it is in `additions.py`."""

    name = "collection"
    verbose_name = _("Collection")
