"""What every admin page here shares."""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

admin.site.site_header = _("Glossary Site: administration")
admin.site.site_title = _("Glossary Site: administration")
admin.site.index_title = _("All tables")


class ReadOnlyAdmin(admin.ModelAdmin):
    """Rows to look at: a service owns the writes, and the site's pages and API call it."""

    list_per_page = 50
    show_full_result_count = False

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Django asks the database even for a number that no row can have, where the key of a table
        is a row of another one."""
        try:
            return super().get_object(request, object_id, from_field)
        except OverflowError:
            return None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def only_to_look_at(app_label: str) -> None:
    """Take the writing out of the admin pages that a package registered for its own tables."""
    for model, page in list(admin.site._registry.items()):
        if model._meta.app_label == app_label:
            admin.site.unregister(model)
            admin.site.register(model, type(model.__name__, (ReadOnlyAdmin, type(page)), {}))


# A schedule names any function of Python: whoever could write one here would have a shell.
only_to_look_at("django_q")
