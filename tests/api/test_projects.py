from datetime import timedelta

import pytest
from django.utils import timezone

from projects.choices import Role
from projects.models import Membership, Project
from tests.factories import make_document, make_member, make_project, make_user


def names(response):
    assert response.status_code == 200, response.json()
    return [row["name"] for row in response.json()["results"]]


def test_the_list_shows_my_projects_with_my_role_and_the_facts_at_a_glance(
    as_viewer, project, viewer
):
    make_project("Somebody else's")
    make_document(project)
    make_document(project)
    response = as_viewer.get("/api/projects")
    assert response.status_code == 200
    body = response.json()
    assert (body["count"], body["next"], body["previous"]) == (1, None, None)
    (row,) = body["results"]
    changed = row.pop("changed")
    created = row.pop("created")
    assert created < changed
    assert row == {
        "id": project.pk,
        "name": "Harbour",
        "description": "",
        "language": "en",
        "role": "viewer",
        "documents": 2,
        "terms": 0,
        "members": 2,
        "active_work": 0,
        "issues": 0,
        "last_run": None,
    }


def test_a_superuser_sees_every_project_as_an_owner_would(program, superuser, project):
    make_project("Another")
    response = program(superuser).get("/api/projects")
    assert [(row["name"], row["role"]) for row in response.json()["results"]] == [
        ("Another", "owner"),
        ("Harbour", "owner"),
    ]


def test_filters_by_words_language_and_role(as_owner, owner):
    make_project("Tidal power", owner=owner, description="Turbines")
    make_project("潮流発電", owner=owner, language="ja")
    guest = make_project("Lighthouse")
    make_member(guest, Role.VIEWER, owner)
    assert names(as_owner.get("/api/projects?q=TIDAL")) == ["Tidal power"]
    assert names(as_owner.get("/api/projects?q=turbine")) == ["Tidal power"]
    assert names(as_owner.get("/api/projects?q=潮流")) == ["潮流発電"]
    assert names(as_owner.get("/api/projects?language=ja")) == ["潮流発電"]
    assert names(as_owner.get("/api/projects?role=viewer")) == ["Lighthouse"]
    assert names(as_owner.get("/api/projects?role=owner&language=en")) == ["Tidal power"]


def test_a_filter_value_nobody_knows_is_refused(as_owner):
    response = as_owner.get("/api/projects?role=king")
    assert response.status_code == 400
    assert response.json()["code"] == "invalid"
    assert list(response.json()["fields"]) == ["role"]


@pytest.mark.parametrize(
    ("ordering", "expected"),
    [
        ("", "abc"),
        ("name", "abc"),
        ("-name", "cba"),
        ("created", "bac"),
        ("-created", "cab"),
        ("documents", "cab"),
        ("-documents", "bac"),
        ("changed", "cba"),
        ("-changed", "abc"),
    ],
)
def test_ordering(as_owner, owner, ordering, expected):
    now = timezone.now()
    for name, age, documents, idle in (("b", 3, 2, 2), ("A", 2, 1, 1), ("c", 1, 0, 3)):
        project = make_project(name, owner=owner)
        for _each in range(documents):
            make_document(project)
        project.documents.update(updated_at=now - timedelta(days=idle))
        Project.objects.filter(pk=project.pk).update(
            created_at=now - timedelta(days=age), updated_at=now - timedelta(days=idle)
        )
    found = names(as_owner.get(f"/api/projects?ordering={ordering}"))
    assert "".join(found).lower() == expected


def test_an_unknown_ordering_is_refused_and_says_what_there_is(as_owner):
    response = as_owner.get("/api/projects?ordering=-password")
    assert response.status_code == 400
    (sentence,) = response.json()["fields"]["ordering"]
    assert "“password”" in sentence
    assert "created" in sentence


def test_pages_are_capped_and_never_repeat_a_row(as_owner, owner):
    for number in range(105):
        make_project(f"P{number:03}", owner=owner, description="same")
    first = as_owner.get("/api/projects?page_size=1000&ordering=documents").json()
    assert first["count"] == 105
    assert len(first["results"]) == 100
    assert first["next"].startswith("http://testserver/api/projects?")
    second = as_owner.get(first["next"]).json()
    seen = [row["id"] for row in first["results"] + second["results"]]
    assert len(set(seen)) == len(seen) == 105
    assert len(as_owner.get("/api/projects").json()["results"]) == 50


@pytest.mark.parametrize("page", ["3", "0", "-1", "none", "9" * 30, "%00"])
def test_a_page_that_does_not_exist_is_not_found(as_owner, page):
    response = as_owner.get(f"/api/projects?page={page}")
    assert response.status_code == 404
    assert response.json()["code"] == "not_found"


@pytest.mark.parametrize("size", ["0", "-1", "x", "", "1.5", "%00", "１"])
def test_a_page_size_that_is_none_is_refused(as_owner, size):
    response = as_owner.get(f"/api/projects?page_size={size}")
    assert response.status_code == 400
    assert list(response.json()["fields"]) == ["page_size"]


def test_a_page_size_of_many_digits_is_capped_as_well(as_owner, project):
    assert as_owner.get(f"/api/projects?page_size={'9' * 5000}").json()["count"] == 1


@pytest.mark.parametrize("amount", [5, 50])
def test_the_list_takes_the_same_few_queries_however_long(
    as_owner, owner, amount, django_assert_max_num_queries
):
    for number in range(amount):
        make_document(make_project(f"P{number}", owner=owner))
    as_owner.get("/api/projects")  # notes the use of the token, once a minute
    with django_assert_max_num_queries(3):  # the token, the count, the rows
        assert len(as_owner.get("/api/projects").json()["results"]) == amount


def test_make_a_project_and_own_it(program, outsider):
    response = program(outsider).post(
        "/api/projects", {"name": " Lighthouse ", "description": "Lamps", "language": "ja"}
    )
    assert response.status_code == 201
    body = response.json()
    assert (body["name"], body["description"], body["language"]) == ("Lighthouse", "Lamps", "ja")
    assert (body["role"], body["documents"], body["members"]) == ("owner", 0, 1)
    membership = Membership.objects.get(project_id=body["id"])
    assert (membership.user, membership.role) == (outsider, Role.OWNER)


def test_a_name_that_is_taken_is_a_conflict_also_in_other_letters(as_owner, project):
    response = as_owner.post("/api/projects", {"name": "HARBOUR"})
    assert response.status_code == 409
    assert response.json()["code"] == "project_name_taken"
    assert "HARBOUR" in response.json()["detail"]
    assert Project.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"name": "nul\0"}, "name"),
        ({"name": None}, "name"),
        ({"name": ["x"]}, "name"),
        ({"name": 5}, "name"),
        ({"name": "x", "language": "tlh"}, "language"),
        ({"name": "x", "description": "x" * 501}, "description"),
        ([], "non_field_errors"),
        ("x", "non_field_errors"),
    ],
)
def test_wrong_fields_are_named(as_owner, body, field):
    response = as_owner.post("/api/projects", body)
    assert response.status_code == 400
    assert response.json()["code"] == "invalid"
    assert field in response.json()["fields"]
    assert not Project.objects.exists()


def test_read_one(as_viewer, project):
    response = as_viewer.get(f"/api/projects/{project.pk}")
    assert response.status_code == 200
    assert response.json()["name"] == "Harbour"
    assert response.json()["role"] == "viewer"


def test_rename_and_change_only_what_is_named(as_owner, project):
    Project.objects.update(description="Ships")
    response = as_owner.patch(f"/api/projects/{project.pk}", {"name": "Port"})
    assert response.status_code == 200
    assert (response.json()["name"], response.json()["description"]) == ("Port", "Ships")
    project.refresh_from_db()
    assert (project.name, project.description) == ("Port", "Ships")
    assert as_owner.patch(f"/api/projects/{project.pk}", {}).status_code == 200


def test_rename_to_a_taken_name_changes_nothing(as_owner, project):
    make_project("Port")
    response = as_owner.patch(f"/api/projects/{project.pk}", {"name": "port"})
    assert (response.status_code, response.json()["code"]) == (409, "project_name_taken")
    project.refresh_from_db()
    assert project.name == "Harbour"


def test_delete_takes_everything_with_it(as_owner, project):
    make_document(project)
    response = as_owner.delete(f"/api/projects/{project.pk}")
    assert (response.status_code, response.content) == (204, b"")
    assert not Project.objects.exists()
    assert as_owner.get(f"/api/projects/{project.pk}").status_code == 404


def test_clone_makes_the_cloner_an_owner_of_the_same_documents(as_viewer, project, viewer):
    make_document(project, "a.md", "# A\n")
    make_document(project, "b/c.md", "# C\n")
    response = as_viewer.post(f"/api/projects/{project.pk}/clone", {"name": "Copy"})
    assert response.status_code == 201
    assert (response.json()["role"], response.json()["documents"]) == ("owner", 2)
    clone = Project.objects.get(name="Copy")
    assert clone.pk == response.json()["id"]
    assert list(clone.documents.values_list("path", "content")) == [
        ("a.md", "# A\n"),
        ("b/c.md", "# C\n"),
    ]
    assert list(clone.memberships.values_list("user__username", "role")) == [("vera", "owner")]


def test_clone_under_a_taken_name_makes_nothing(as_owner, project):
    response = as_owner.post(f"/api/projects/{project.pk}/clone", {"name": "Harbour"})
    assert (response.status_code, response.json()["code"]) == (409, "project_name_taken")
    assert Project.objects.count() == 1


def test_me(program, project, viewer):
    make_project("Not mine")
    make_member(make_project("Astrolabe"), Role.EDITOR, viewer)
    response = program(viewer).get("/api/me")
    assert response.status_code == 200
    body = response.json()
    assert [(row["name"], row["role"]) for row in body.pop("projects")] == [
        ("Astrolabe", "editor"),
        ("Harbour", "viewer"),
    ]
    assert body == {"id": viewer.pk, "username": "vera", "is_superuser": False}


@pytest.mark.parametrize("amount", [5, 50])
def test_me_takes_the_same_few_queries(program, amount, db, django_assert_max_num_queries):
    user = make_user()
    for _each in range(amount):
        make_project(owner=user)
    client = program(user)
    client.get("/api/me")
    with django_assert_max_num_queries(3):
        assert len(client.get("/api/me").json()["projects"]) == amount


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("a\u202eb\nc", "ab c"),
        ("  a \t\u2028\u200b b\x1b[31m\x7f", "a b[31m"),
        ("港\u00ad湾", "港湾"),
        ("👩\u200d🔧", "👩\u200d🔧"),
    ],
    ids=["override", "controls", "hyphen", "emoji"],
)
def test_a_name_is_one_line_of_signs_that_can_be_seen(as_owner, sent, kept):
    made = as_owner.post("/api/projects", {"name": sent})
    assert (made.status_code, made.json()["name"]) == (201, kept)
    address = f"/api/projects/{made.json()['id']}"
    assert as_owner.patch(address, {"name": "Other"}).status_code == 200
    assert as_owner.patch(address, {"name": sent}).json()["name"] == kept
    clone = as_owner.post(f"{address}/clone", {"name": f"{sent} 2"})
    assert clone.json()["name"] == f"{kept} 2"


def test_a_name_that_nobody_sees(as_owner):
    answer = as_owner.post("/api/projects", {"name": "\u202e\u200b"})
    assert (answer.status_code, answer.json()["code"]) == (400, "project_name_invalid")
    assert not Project.objects.exists()
