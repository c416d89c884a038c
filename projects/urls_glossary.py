"""Pages about the published glossary; below `projects/<id>/glossary/`."""

from django.urls import path

from projects.views import glossary, glossary_entry

urlpatterns = [
    path("", glossary.glossary, name="project-glossary"),
    path("add/", glossary.entry_add, name="entry-add"),
    path("export.<str:format>", glossary.export, name="glossary-export"),
    path("history/", glossary_entry.history, name="glossary-history"),
    path("history/<int:revision_id>/undo/", glossary_entry.revision_undo, name="revision-undo"),
    path("history/<uuid:batch>/undo/", glossary_entry.batch_undo, name="batch-undo"),
    path("<int:entry_id>/", glossary_entry.entry, name="glossary-entry"),
    path("<int:entry_id>/edit/", glossary_entry.entry_edit, name="entry-edit"),
    path("<int:entry_id>/unlock/", glossary_entry.entry_unlock, name="entry-unlock"),
    path("<int:entry_id>/reviewed/", glossary_entry.entry_reviewed, name="entry-reviewed"),
    path("<int:entry_id>/delete/", glossary_entry.entry_delete, name="entry-delete"),
]
