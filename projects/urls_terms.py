"""Pages about terms, and about the kinds of them that a project has; below `projects/<id>/`."""

from django.urls import path

from projects.views import categories, term, terms

urlpatterns = [
    path("terms/", terms.term_list, name="project-terms"),
    path("terms/add/", terms.term_add, name="term-add"),
    path("terms/suggest/", terms.term_suggest, name="term-suggest"),
    path("terms/<int:term_id>/", term.term, name="term"),
    path("terms/<int:term_id>/edit/", term.term_edit, name="term-edit"),
    path("terms/<int:term_id>/delete/", term.term_delete, name="term-delete"),
    path("terms/<int:term_id>/synonyms/", term.term_synonyms, name="term-synonyms"),
    path("settings/categories/", categories.category_list, name="project-categories"),
    path(
        "settings/categories/<int:category_id>/",
        categories.category_change,
        name="category-change",
    ),
    path(
        "settings/categories/<int:category_id>/delete/",
        categories.category_delete,
        name="category-delete",
    ),
]
