"""Whatever goes wrong under /api/ is said as `{"code", "detail"}`."""

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.middleware.csrf import get_token
from django.test import AsyncClient, Client, RequestFactory

from glossary_site.api import views
from glossary_site.people.services import create_token


def wrong(response, status, code):
    assert response["Content-Type"] == "application/json"
    body = response.json()
    assert (response.status_code, body["code"]) == (status, code)
    assert isinstance(body["detail"], str)
    assert body["detail"]
    assert response.headers.get("Content-Length", str(len(response.content))) == str(
        len(response.content)
    )
    return True


@pytest.mark.parametrize(
    "path",
    [
        "/api/",
        "/api/nothing",
        "/api/nothing/",
        "/api/projects/x",
        "/api/projects/-1",
        "/api/projects/1.5",
        "/api/projects/%00",
        "/api/projects/%ED%A0%80",
        "/api/projects/" + "9" * 5000,
        "/api//projects",
        "/api/schema/x",
        "/api/projects/1/documents/1/nothing",
    ],
)
@pytest.mark.parametrize("method", ["get", "post", "put", "options"])
def test_an_unknown_address(as_owner, method, path):
    assert wrong(getattr(as_owner, method)(path), 404, "not_found")


def test_a_word_that_is_none_of_a_few_is_answered_with_these(as_owner, project):
    answer = as_owner.post(f"/api/projects/{project.pk}/runs", {"scope": "all"}, format="json")
    assert wrong(answer, 400, "invalid")
    (said,) = answer.json()["fields"]["scope"]
    assert said.startswith("“all” is none of: full, from_terms, ")


def test_an_unknown_address_needs_no_account(db):
    assert wrong(Client().get("/api/nothing"), 404, "not_found")


def test_a_page_outside_keeps_its_own_way_to_say_it(sign_in, owner):
    response = sign_in(owner).get("/nothing-of-that-name")
    assert response.status_code == 404
    assert response["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("number", ["0", str(2**31), str(2**63 - 1), str(2**63), "9" * 40])
@pytest.mark.parametrize("tail", ["", "/documents", "/members", "/events", "/events/stream"])
def test_a_project_number_nobody_has(as_owner, number, tail):
    assert wrong(as_owner.get(f"/api/projects/{number}{tail}"), 404, "not_found")


@pytest.mark.parametrize("method", ["put", "delete", "options", "trace", "patch"])
def test_a_method_that_is_not_taken(as_owner, method):
    response = getattr(as_owner, method)("/api/projects")
    assert wrong(response, 405, "method_not_allowed")
    assert set(response["Allow"].split(", ")) == {"GET", "POST", "HEAD"}


@pytest.mark.parametrize(
    "content_type", ["text/plain", "", "application/x-www-form-urlencoded", "multipart/form-data"]
)
def test_a_format_that_is_not_taken(as_owner, content_type):
    response = as_owner.generic("POST", "/api/projects", b"name=x", content_type=content_type)
    assert wrong(response, 415, "unsupported_media_type")


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"\xff",
        b"\xed\xa0\x80",
        b'{"name": NaN}',
        b'{"name": Infinity}',
        b"[" * 100_000,
        b"1" * 10_000,
        b'{"name": "\x00"}',
        rb'{"name": "\ud800"}',
        rb'{"\udfff": 1}',
    ],
)
def test_a_body_that_is_not_json(as_owner, body):
    response = as_owner.generic("POST", "/api/projects", body, content_type="application/json")
    assert wrong(response, 400, "parse_error")


def test_a_body_with_a_charset_is_still_utf8(as_owner):
    body = '{"name": "港"}'.encode()
    content_type = "application/json; charset=shift_jis"
    response = as_owner.generic("POST", "/api/projects", body, content_type=content_type)
    assert response.status_code == 201
    assert response.json()["name"] == "港"


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "nonsense", "*/*;q=0"])
def test_the_answer_is_json_whatever_is_asked_for(as_owner, accept):
    assert as_owner.get("/api/projects", headers={"Accept": accept}).status_code == 200
    assert wrong(as_owner.get("/api/projects/0", headers={"Accept": accept}), 404, "not_found")


@pytest.mark.parametrize("token", ["gls_wrong", "", "gls_\u00e9", "x" * 5000, "a b"])
def test_a_token_nobody_has(db, token):
    response = Client().get("/api/me", headers={"Authorization": f"Bearer {token}"})
    assert wrong(response, 401, "invalid_token")
    assert response["WWW-Authenticate"] == "Bearer"


def test_another_kind_of_credentials_counts_for_nothing(db):
    response = Client().get("/api/me", headers={"Authorization": "Basic b2xpdmU6eA=="})
    assert wrong(response, 401, "not_authenticated")


def test_a_page_writes_with_its_csrf_token_only(owner):
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get("/api/projects").status_code == 200
    body = {"name": "Port"}
    response = client.post("/api/projects", body, content_type="application/json")
    assert wrong(response, 403, "csrf_failed")

    request = RequestFactory().get("/")
    token = get_token(request)
    client.cookies[settings.CSRF_COOKIE_NAME] = request.META["CSRF_COOKIE"]
    response = client.post(
        "/api/projects", body, content_type="application/json", headers={"X-CSRFToken": token}
    )
    assert response.status_code == 201


def test_a_foreign_host(as_owner):
    response = as_owner.get("/api/projects", headers={"Host": "evil.example"})
    assert wrong(response, 400, "bad_request")


def test_a_crash_says_nothing_about_itself(as_owner, monkeypatch):
    def crash(*args, **kwargs):
        raise RuntimeError("a secret")

    monkeypatch.setattr(views.ApiView, "page_of", crash)
    as_owner.raise_request_exception = False
    response = as_owner.get("/api/projects")
    assert wrong(response, 500, "server_error")
    assert "secret" not in response.content.decode()


def test_people_read_the_sentence_in_their_language(as_owner):
    english = as_owner.get("/api/projects/0").json()
    other = as_owner.get("/api/projects/0", headers={"Accept-Language": "ja"}).json()
    assert english["code"] == other["code"] == "not_found"


@pytest.mark.parametrize("path", ["/api/projects", "/api/projects/", "/api/projects//"])
def test_a_trailing_slash_makes_no_difference(as_owner, project, path):
    response = as_owner.get(f"{path}?page_size=1")
    assert response.status_code == 200
    assert response.json()["count"] == 1
    assert as_owner.post(path, {"name": f"P {len(path)}"}).status_code == 201
    assert as_owner.delete(f"/api/projects/{project.pk}/").status_code == 204


@pytest.mark.usefixtures("committed")
async def test_the_same_under_asgi():
    assert wrong(await AsyncClient().get("/api/nothing/"), 404, "not_found")
    assert wrong(await AsyncClient().get("/api/projects/"), 401, "not_authenticated")


@pytest.mark.usefixtures("committed")
async def test_a_form_in_a_charset_that_is_none_is_read_all_the_same(project, owner):
    _token, secret = await sync_to_async(create_token)(user=owner, name="tests")
    form = (
        b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.md"\r\n\r\n# A\r\n'
        b'--x\r\nContent-Disposition: form-data; name="paths"\r\n\r\n\xe6\xb8\xaf.md\r\n--x--\r\n'
    )
    response = await AsyncClient().generic(
        "POST",
        f"/api/projects/{project.pk}/documents?q=x",
        form,
        content_type="multipart/form-data; boundary=x; charset=rot13",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert response.status_code == 200
    assert [row["path"] for row in response.json()["results"]] == ["港.md"]


def test_a_misspelled_field_is_named(as_owner, project):
    response = as_owner.post("/api/projects", {"name": "Port", "langauge": "ja", "colour": "blue"})
    assert wrong(response, 400, "invalid")
    known = "There is no such field. Known here: name, description, language."
    assert response.json()["fields"] == {"langauge": [known], "colour": [known]}
    # Beside what is missing: the one is often the other, misspelled.
    response = as_owner.patch(f"/api/projects/{project.pk}", {"nmae": "Quay"})
    assert list(response.json()["fields"]) == ["nmae"]
    assert set(as_owner.post("/api/projects", {"nmae": "Quay"}).json()["fields"]) == {
        "nmae",
        "name",
    }
    japanese = as_owner.post("/api/projects", {"x": 1}, headers={"Accept-Language": "ja"})
    assert "name, description, language" in japanese.json()["fields"]["x"][0]


def test_a_misspelled_field_inside_another_is_named(as_owner, project):
    documents = [
        {"path": "a.md", "content": "# A"},
        {"path": "b.md", "content": "# B", "title": "B"},
    ]
    address = f"/api/projects/{project.pk}/documents/bulk"
    response = as_owner.post(address, {"documents": documents})
    assert wrong(response, 400, "invalid")
    assert list(response.json()["fields"]["documents"]["1"]) == ["title"]
    assert not project.documents.exists()


def test_a_form_may_bring_its_token(as_owner, project):
    address = f"/api/projects/{project.pk}/documents"
    for extra, status in (("csrfmiddlewaretoken", 200), ("folder", 400)):
        file = SimpleUploadedFile("a.md", b"# A")
        response = as_owner.post(address, {"files": file, extra: "x"}, format="multipart")
        assert response.status_code == status
