import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projects.api.diff import unified
from projects.rendering import sequence
from tests.factories import make_document, make_project


@pytest.fixture
def document(project):
    for text in ("one\ntwo\n", "one\n2\n", "one\n2\nthree\n"):
        document = make_document(project, "a.md", text)
    return document


@pytest.fixture
def url(project, document):
    return f"/api/projects/{project.pk}/documents/{document.pk}/versions"


def test_versions_are_listed_newest_first_without_text(as_viewer, url):
    rows = as_viewer.get(url).json()["results"]
    assert [row["number"] for row in rows] == [3, 2, 1]
    assert {"content"}.isdisjoint(rows[0])
    assert rows[0]["size"] == 12
    assert rows[0]["author"] is None
    rows = as_viewer.get(f"{url}?ordering=number&page_size=2").json()["results"]
    assert [row["number"] for row in rows] == [1, 2]


def test_a_version_names_its_author(as_editor, project):
    body = {"path": "b.md", "content": "x"}
    number = as_editor.post(f"/api/projects/{project.pk}/documents", body).json()["id"]
    versions = f"/api/projects/{project.pk}/documents/{number}/versions"
    assert as_editor.get(versions).json()["results"][0]["author"] == "edda"


@pytest.mark.parametrize("amount", [5, 50])
def test_the_list_takes_the_same_few_queries(
    as_viewer, project, amount, django_assert_max_num_queries
):
    for number in range(amount):
        document = make_document(project, "a.md", f"{number}")
    url = f"/api/projects/{project.pk}/documents/{document.pk}/versions"
    as_viewer.get(url)
    with django_assert_max_num_queries(7):
        assert len(as_viewer.get(url).json()["results"]) == amount


def test_an_old_version_with_its_text(as_viewer, url):
    body = as_viewer.get(f"{url}/1").json()
    assert (body["number"], body["content"]) == (1, "one\ntwo\n")


@pytest.mark.parametrize("tail", ["0", "4", str(2**31), str(2**63), "0/diff", "4/diff"])
def test_a_version_that_does_not_exist_is_not_found(as_viewer, url, tail):
    response = as_viewer.get(f"{url}/{tail}")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_the_history_of_a_foreign_document_is_not_found(as_viewer, project):
    foreign = make_document(make_project("Other"))
    for tail in ("versions", "versions/1", "versions/1/diff", "content"):
        response = as_viewer.get(f"/api/projects/{project.pk}/documents/{foreign.pk}/{tail}")
        assert response.status_code == 404


def test_a_diff_against_the_version_before(as_viewer, url):
    response = as_viewer.get(f"{url}/3/diff")
    assert response["Content-Type"] == "text/x-diff; charset=utf-8"
    assert response.content.decode() == (
        "--- a.md\tversion 2\n+++ a.md\tversion 3\n@@ -1,2 +1,3 @@\n one\n 2\n+three\n"
    )


def test_a_diff_against_any_version_and_against_nothing(as_viewer, url):
    assert "-three\n" in as_viewer.get(f"{url}/1/diff?against=3").content.decode()
    assert as_viewer.get(f"{url}/2/diff?against=2").content == b""
    first = as_viewer.get(f"{url}/1/diff").content.decode()
    assert "@@ -0,0 +1,2 @@\n+one\n+two\n" in first
    assert as_viewer.get(f"{url}/1/diff?against=9").status_code == 404
    for wrong in ("x", "-1", "1.5", "%00", "9" * 5000):
        response = as_viewer.get(f"{url}/1/diff?against={wrong}")
        assert (response.status_code, response.json()["code"]) == (400, "invalid")


texts = st.lists(st.sampled_from(["a", "b", "c", "", "\u2028", "\\"]), max_size=30).map("\n".join)


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the patch command")
@pytest.mark.parametrize("most", [sequence.MAX_PRODUCT, 3])
def test_patch_makes_the_new_text_of_the_old_one(tmp_path, monkeypatch, most):
    monkeypatch.setattr(sequence, "MAX_PRODUCT", most)

    @settings(max_examples=60, deadline=None, derandomize=True, database=None)
    @given(texts, texts)
    def check(old, new):
        path = tmp_path / "text"
        path.write_text(old, newline="")
        change = unified(old, new, old_name="text", new_name="text")
        if old == new:
            assert change == ""
            return
        command = ["patch", "--quiet", "--batch", "--no-backup-if-mismatch", "-o", "-", str(path)]
        done = subprocess.run(command, input=change.encode(), capture_output=True, check=False)
        assert done.returncode == 0, (done.stderr, change)
        assert done.stdout.decode() == new

    check()
    assert unified("a", "b\n", old_name="x", new_name="y") == (
        "--- x\n+++ y\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n"
    )


@pytest.mark.timeout(20)
def test_two_long_texts_with_nothing_in_common_do_not_take_for_ever():
    old = "\n".join(f"a{n % 50}" for n in range(200_000))
    new = "\n".join(f"b{n % 50}" for n in range(200_000))
    change = unified(f"same\n{old}\nend", f"same\n{new}\nend", old_name="x", new_name="y")
    assert change.count("\n-a") == change.count("\n+b") == 200_000
    assert change.endswith(" end\n\\ No newline at end of file\n")
