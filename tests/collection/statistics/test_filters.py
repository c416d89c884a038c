"""Filters that people keep under a name."""

import pytest
from django.urls import reverse

from collection.models import SavedFilter
from collection.services.filters import delete_filter, rename_filter, save_filter
from collection.statistics.asking import By, Filter
from glossary_site.errors import Refusal
from projects.access import OPERATOR
from tests import factories

pytestmark = pytest.mark.django_db

BY_AUTHOR = Filter(by=By.AUTHOR, branches=("main",))


def save(project, name, filter=BY_AUTHOR):
    return save_filter(project=project, name=name, filter=filter, actor=OPERATOR)


def test_a_name_is_one_filter(project):
    saved = save(project, "  By   author ")
    assert (saved.name, saved.query) == ("By author", {"by": ["author"], "branch": ["main"]})
    with pytest.raises(Refusal) as taken:
        save(project, "BY AUTHOR")
    assert (taken.value.code, taken.value.status) == ("filter_name_taken", 409)
    other = save(project, "Other")
    with pytest.raises(Refusal):
        rename_filter(saved=other, name="by author", actor=OPERATOR)
    assert rename_filter(saved=other, name="OTHER", actor=OPERATOR).name == "OTHER"
    # Another project has names of its own.
    save(factories.make_project(), "By author")


@pytest.mark.parametrize(
    "name", ["", "  ", "x" * 101, "a\0b"], ids=["empty", "space", "long", "nul"]
)
def test_bad_names(project, name):
    with pytest.raises(Refusal) as bad:
        save(project, name)
    assert bad.value.code == "filter_name_invalid"


def test_deleted_meanwhile(project):
    saved = save(project, "One")
    delete_filter(saved=saved, actor=OPERATOR)
    saved.pk = saved.pk or 1
    with pytest.raises(Refusal, match="deleted meanwhile"):
        rename_filter(saved=saved, name="Two", actor=OPERATOR)


def test_on_the_page(project, editing, reading):
    page = reverse("statistics", args=[project.pk])
    query = BY_AUTHOR.urlencode()
    done = editing.post(
        reverse("statistics-filters", args=[project.pk]), {"name": "Mine", "query": query}
    )
    assert done.url == f"{page}?{query}"
    saved = SavedFilter.objects.get()
    assert saved.made_by.username == "edda"
    shown = reading.get(done.url).context["saved"]
    assert [(each.row, each.is_current) for each in shown] == [(saved, True)]
    assert Filter.from_query(shown[0].url.partition("?")[2]) == BY_AUTHOR
    rename = reverse("statistics-filter-rename", args=[project.pk, saved.pk])
    delete = reverse("statistics-filter-delete", args=[project.pk, saved.pk])
    for address in (rename, delete, reverse("statistics-filters", args=[project.pk])):
        assert reading.post(address, {"name": "x"}).status_code == 403
        assert editing.get(address).status_code == 405
    editing.post(rename, {"name": "Ours", "query": query})
    saved.refresh_from_db()
    assert saved.name == "Ours"
    bad = editing.post(
        reverse("statistics-filters", args=[project.pk]),
        {"name": "B", "query": "per=day"},
        follow=True,
    )
    assert "none of: week, month" in bad.text
    editing.post(delete)
    assert not SavedFilter.objects.exists()


def test_not_those_of_another_project(project, editing):
    saved = save(factories.make_project(), "Theirs")
    delete = reverse("statistics-filter-delete", args=[project.pk, saved.pk])
    assert editing.post(delete).status_code == 404
