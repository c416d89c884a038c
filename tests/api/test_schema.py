"""The description of the API is complete, valid and open to everybody."""

import json
import re

import pytest
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

METHODS = {"get", "post", "put", "patch", "delete"}


@pytest.fixture(scope="module")
def schema():
    return SchemaGenerator().get_schema(request=None, public=True)


def operations(schema):
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            if method in METHODS:
                yield path, method, operation


def test_it_is_valid_and_made_without_a_warning(tmp_path):
    target = tmp_path / "schema.yml"
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(target))
    assert "openapi: 3" in target.read_text()


def test_every_operation_is_named_and_says_what_can_go_wrong(schema):
    names = set()
    for path, method, operation in operations(schema):
        names.add(operation["operationId"])
        assert operation["summary"]
        assert "description" not in operation or operation["description"]
        assert operation["tags"][0] in {
            "projects",
            "members",
            "documents",
            "terms",
            "glossary",
            "runs",
            "collection",
            "search",
            "events",
            "operations",
            "llm",
            "me",
        }
        errors = {int(status) for status in operation["responses"] if status >= "400"}
        assert 401 in errors
        if "{" in path:
            assert 404 in errors
        if method != "get":
            assert 403 in errors
        if "requestBody" in operation:
            assert {400, 413, 415} <= errors
        for status in errors:
            reference = operation["responses"][str(status)]["content"]["application/json"]
            assert reference["schema"] == {"$ref": "#/components/schemas/Error"}
    assert len(names) == len(list(operations(schema)))


def test_the_event_stream_is_described(schema):
    stream = schema["paths"]["/api/projects/{project_id}/events/stream"]["get"]
    assert "text/event-stream" in stream["responses"]["200"]["content"]
    assert {parameter["name"] for parameter in stream["parameters"]} == {
        "project_id",
        "after",
        "Last-Event-ID",
    }


def test_an_export_is_narrowed_as_the_list_is(schema):
    address = "/api/projects/{project_id}/glossary"
    names = {
        way: {parameter["name"] for parameter in schema["paths"][way]["get"]["parameters"]}
        for way in (address, f"{address}/export")
    }
    paging = {"ordering", "page", "page_size", "limit", "offset"}
    assert names[f"{address}/export"] - {"format"} == names[address] - paging
    assert "q" in names[address]


def test_a_section_has_its_text_only_where_it_was_asked_for(schema):
    section = schema["components"]["schemas"]["SectionText"]
    assert "content" in section["properties"]
    assert "content" not in section["required"]


def test_anybody_may_read_it(db):
    response = Client().get("/api/schema?format=json")
    assert response.status_code == 200
    assert json.loads(response.content)["info"]["title"] == "Glossary Site"
    assert Client().get("/api/schema").status_code == 200
    wrong_token = Client().get("/api/schema", headers={"Authorization": "Bearer gls_wrong"})
    assert wrong_token.status_code == 200


def test_the_page_for_people_needs_no_inline_script_and_nothing_from_elsewhere(db):
    response = Client().get("/api/docs")
    assert response.status_code == 200
    page = response.content.decode()
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(addresses) == 5
    for address in addresses:
        if address.startswith("/static/"):
            assert finders.find(address.removeprefix("/static/"))
        else:
            assert address.startswith("/api/docs?")
            script = Client().get(address.replace("&amp;", "&"))
            assert script["Content-Type"].startswith("application/javascript")
            assert "/api/schema" in script.content.decode()

    policy = dict(
        part.strip().split(" ", 1) for part in response["Content-Security-Policy"].split(";")
    )
    assert policy["style-src"] == "'self' 'unsafe-inline'"
    assert policy["default-src"] == "'self'"
    assert "script-src" not in policy
    elsewhere = Client().get("/api/schema")["Content-Security-Policy"]
    assert "unsafe" not in elsewhere


def test_bodies_have_no_other_fields_than_are_described(schema):
    closed = {
        name
        for name, component in schema["components"]["schemas"].items()
        if component.get("additionalProperties") is False
    }
    assert {
        "RunStartRequest",
        "PatchedEntryEditRequest",
        "UploadRequest",
        "SeenTermRequest",
    } <= closed
    # What is answered may get more fields one day.
    assert not closed & {"Run", "Project", "Error"}
    event = schema["components"]["schemas"]["TriggerEventWriteRequest"]
    assert event["properties"]["payload"]["additionalProperties"] == {}
