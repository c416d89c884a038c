import pytest

from glossary_site.live.models import Event
from projects.choices import Role
from projects.models import Membership
from tests.factories import make_member, make_user


@pytest.fixture
def url(project):
    return f"/api/projects/{project.pk}/members"


def roles(project):
    return dict(project.memberships.values_list("user__username", "role"))


def test_members_are_listed_by_name(as_viewer, url, owner, viewer, editor):
    response = as_viewer.get(url)
    assert response.status_code == 200
    assert [
        (row["user_id"], row["username"], row["role"]) for row in response.json()["results"]
    ] == [
        (editor.pk, "edda", "editor"),
        (owner.pk, "olive", "owner"),
        (viewer.pk, "vera", "viewer"),
    ]
    response = as_viewer.get(f"{url}?ordering=-joined&page_size=1")
    assert response.json()["count"] == 3
    assert len(response.json()["results"]) == 1


@pytest.mark.parametrize("amount", [5, 50])
def test_the_list_takes_the_same_few_queries(
    as_owner, project, url, amount, django_assert_max_num_queries
):
    for _each in range(amount - 1):
        make_member(project, Role.VIEWER)
    as_owner.get(url)
    with django_assert_max_num_queries(6):
        assert len(as_owner.get(url).json()["results"]) == amount


def test_invite_somebody(as_owner, project, url, outsider):
    response = as_owner.post(url, {"username": "otto", "role": "editor"})
    assert response.status_code == 201
    body = response.json()
    assert (body["user_id"], body["username"], body["role"]) == (outsider.pk, "otto", "editor")
    assert roles(project) == {"olive": "owner", "otto": "editor"}
    assert Event.objects.get(type="member.added").payload["by"] == "olive"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"username": "nobody", "role": "viewer"}, 400, "user_unknown"),
        ({"username": "olive", "role": "viewer"}, 409, "already_member"),
        ({"username": "otto", "role": "king"}, 400, "invalid"),
        ({"username": "otto"}, 400, "invalid"),
        ({"username": "ot\0to", "role": "viewer"}, 400, "invalid"),
    ],
)
def test_an_invitation_that_cannot_be(as_owner, project, url, outsider, body, status, code):
    response = as_owner.post(url, body)
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert roles(project) == {"olive": "owner"}


def test_change_a_role(as_owner, project, url, viewer):
    response = as_owner.patch(f"{url}/{viewer.pk}", {"role": "editor"})
    assert response.status_code == 200
    assert response.json()["role"] == "editor"
    assert roles(project)["vera"] == "editor"


def test_take_somebody_out(as_owner, project, url, program, viewer):
    response = as_owner.delete(f"{url}/{viewer.pk}")
    assert (response.status_code, response.content) == (204, b"")
    assert "vera" not in roles(project)
    assert program(viewer).get(url).status_code == 404


def test_the_last_owner_stays(as_owner, project, url, owner):
    for response in (
        as_owner.patch(f"{url}/{owner.pk}", {"role": "viewer"}),
        as_owner.delete(f"{url}/{owner.pk}"),
    ):
        assert (response.status_code, response.json()["code"]) == (409, "last_owner")
    assert roles(project) == {"olive": "owner"}


@pytest.mark.parametrize("user_id", ["0", "9" * 30])
def test_somebody_who_is_no_member_is_not_found(as_owner, url, user_id):
    for response in (
        as_owner.patch(f"{url}/{user_id}", {"role": "viewer"}),
        as_owner.delete(f"{url}/{user_id}"),
    ):
        assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_a_user_of_another_project_is_no_member_of_this_one(as_owner, url):
    stranger = make_user()
    assert as_owner.delete(f"{url}/{stranger.pk}").status_code == 404
    assert not Membership.objects.filter(user=stranger).exists()
