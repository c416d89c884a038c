import pytest
from django.apps import apps
from django.contrib import admin
from django.urls import reverse

from glossary_site.people.models import User
from tests import factories

OURS = ("people", "live", "jobs", "llm", "projects", "indexing", "runs", "collection")


def our_models():
    return [model for model in apps.get_models() if model._meta.app_label in OURS]


def test_every_model_has_an_admin():
    assert [model for model in our_models() if not admin.site.is_registered(model)] == []


@pytest.mark.parametrize("model", our_models(), ids=lambda model: model._meta.label_lower)
def test_lists_search_and_rows_open(model, project, superuser, sign_in):
    factories.make_document(project)
    client = sign_in(superuser)
    url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    assert client.get(url).status_code == 200
    assert client.get(url, {"q": "harbour"}).status_code == 200
    row = model._default_manager.first()
    if row is not None:
        change = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
        assert client.get(reverse(change, args=[row.pk])).status_code == 200


@pytest.mark.parametrize("model", our_models(), ids=lambda model: model._meta.label_lower)
def test_a_row_that_no_table_can_have(model, superuser, sign_in):
    change = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
    assert sign_in(superuser).get(reverse(change, args=["9" * 24])).status_code == 302


def test_who_still_has_a_temporary_password(superuser, sign_in):
    factories.make_user("nina")
    User.objects.filter(username="nina").update(password_is_temporary=True)
    url = reverse("admin:people_user_changelist")
    answer = sign_in(superuser).get(url, {"password_is_temporary__exact": "1"})
    assert [row.username for row in answer.context["cl"].result_list] == ["nina"]
    # A password itself is still nothing to look for.
    assert sign_in(superuser).get(url, {"password__startswith": "a"}).status_code == 400


def test_rows_that_services_write_cannot_be_changed_here(project, superuser, sign_in):
    url = reverse("admin:projects_project_change", args=[project.pk])
    assert sign_in(superuser).post(url, {"name": "Stolen"}).status_code == 403
    project.refresh_from_db()
    assert project.name == "Harbour"


def test_an_account_made_by_an_operator_asks_for_a_new_password(superuser, sign_in):
    data = {
        "username": "nina",
        "usable_password": "true",
        "password1": factories.PASSWORD,
        "password2": factories.PASSWORD,
    }
    assert sign_in(superuser).post(reverse("admin:people_user_add"), data).status_code == 302
    assert User.objects.get(username="nina").password_is_temporary


def test_nobody_can_schedule_code_through_the_admin(superuser, sign_in):
    client = sign_in(superuser)
    assert client.get(reverse("admin:django_q_schedule_changelist")).status_code == 200
    for method in (client.get, client.post):
        assert method(reverse("admin:django_q_schedule_add")).status_code == 403


def test_people_who_are_not_staff_are_kept_out(owner, sign_in):
    assert sign_in(owner).get(reverse("admin:index")).status_code == 302
