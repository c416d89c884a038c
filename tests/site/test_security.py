"""The baseline: what every response promises, and what production mode adds."""

import re

from django.test import Client
from django.urls import reverse

from tests import factories

INLINE_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)|\son[a-z]+=|javascript:", re.I)
INLINE_STYLE = re.compile(r"<style|\sstyle=", re.I)


def pages(project, document) -> list[str]:
    one, both = [project.pk], [project.pk, document.pk]
    return [
        *(reverse(name) for name in ("project-list", "project-create", "account")),
        *(reverse(name) for name in ("password-change", "api-docs")),
        *(reverse(name, args=one) for name in ("project", "project-members", "project-activity")),
        *(reverse(name, args=one) for name in ("project-settings", "document-list")),
        *(reverse(name, args=one) for name in ("document-add",)),
        *(reverse(name, args=both) for name in ("document", "document-history")),
        *(reverse(name, args=both) for name in ("document-rename", "document-delete")),
        "/no/such/page",
    ]


def test_no_page_needs_inline_script_or_style(project, owner, sign_in):
    document = factories.make_document(project)
    client = sign_in(owner)
    for url in [*pages(project, document), reverse("sign-in")]:
        response = client.get(url)
        policy = response["Content-Security-Policy"]
        script = re.search(r"script-src ([^;]*)", policy) or re.search(
            r"default-src ([^;]*)", policy
        )
        assert script is not None
        assert "unsafe" not in script[1], url
        assert "frame-ancestors 'none'" in policy
        assert INLINE_SCRIPT.findall(response.content.decode()) == [], url
        # Swagger's page brings styles of its own, and its own policy lets it.
        if url != reverse("api-docs"):
            assert INLINE_STYLE.findall(response.content.decode()) == [], url
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["X-Frame-Options"] == "DENY"


def test_a_session_alone_cannot_write_through_the_api(project, owner):
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    response = client.patch(
        reverse("api-project", args=[project.pk]), {"name": "x"}, content_type="application/json"
    )
    assert response.status_code == 403


def test_what_people_were_shown_is_kept_by_no_cache_between(project, owner, sign_in):
    response = sign_in(owner).get(reverse("project", args=[project.pk]))
    assert response["Cache-Control"] == "private, no-cache"


def test_health_needs_no_sign_in_and_tells_nothing(db):
    response = Client().get(reverse("healthz"))
    assert response.json() == {"status": "ok"}
