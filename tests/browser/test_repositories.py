"""From a repository to documents as people do it: add it, ask it, collect it and watch."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.visiting import PASSWORD, LiveSite, sign_in, wait_until_live
from tests.collection.git.building import Source, make_source

PAGE = b"# Pilots\n\nA **pilot boat** brings a pilot to an arriving ship.\n"


@pytest.fixture
def source(site: LiveSite, project) -> Source:
    """Three commits on `main`, one of a branch that is not followed."""
    source = make_source(site.repositories / f"handbook-{project.id}.git")
    first = source.commit("main", {"docs/pilots.md": PAGE, "src/app.py": b"print()\n"})
    second = source.commit("main", {"docs/berths.md": b"# Berths\n"}, parents=[first])
    source.commit("main", {"docs/berths.md": b"# Berths\n\nMany.\n"}, parents=[second])
    source.commit("wip", {"docs/tides.md": b"# Tides\n"}, parents=[second])
    source.write()
    return source


def test_a_repository_is_added_collected_and_read(visit, olive, vera, project, source):
    project.invite(vera, "viewer")
    watching = visit(vera)
    watching.goto(f"{project.url}repositories/")
    wait_until_live(watching)
    expect(watching.get_by_role("main")).to_contain_text("No repositories yet")

    page = visit(olive)
    page.goto(f"{project.url}documents/")
    page.get_by_role("link", name="Follow a git repository").click()
    # A folder needs neither token nor key.
    expect(page.get_by_role("textbox", name="Access token")).to_be_visible()
    page.get_by_role("textbox", name="Address").fill(str(source.path))
    expect(page.get_by_role("textbox", name="Access token")).to_be_hidden()
    expect(page.get_by_role("textbox", name="Deploy key")).to_be_hidden()
    page.get_by_role("textbox", name="Document paths").fill("docs/**/*.md")
    page.get_by_role("textbox", name="Folder for documents").fill("handbook")
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator("#connection")).to_contain_text("It has 2 branches.")
    expect(page.locator("#connection .badge-ok", has_text="main")).to_be_visible()
    # Nothing that was typed is gone.
    expect(page.get_by_role("textbox", name="Document paths")).to_have_value("docs/**/*.md")
    page.get_by_role("button", name="Add repository").click()
    expect(page.locator("h1 .badge")).to_have_text("Not asked yet")
    expect(watching.get_by_role("row", name=re.compile("handbook"))).to_be_visible()

    page.get_by_role("button", name="Collect now").click()
    # Without a reload, whenever one comes to look: the end, and what it came to.
    expect(page.locator("h1 .badge")).to_have_text("Completed")
    expect(page.get_by_role("progressbar", name="Targets that have ended")).to_have_attribute(
        "aria-valuetext", "1 of 1, 0 failed"
    )
    expect(page.locator(".bar-legend")).to_contain_text("3 new commits")
    expect(page.locator(".results tbody tr")).to_contain_text(re.compile("main.*Success", re.S))
    row = watching.get_by_role("row", name=re.compile("handbook"))
    expect(row).to_contain_text(re.compile("Ready.*main", re.S))

    page.get_by_role("link", name="Documents 2").click()
    expect(page.get_by_role("link", name="handbook/docs/berths.md")).to_be_visible()
    page.get_by_role("link", name="handbook/docs/pilots.md").click()
    expect(page.get_by_role("main")).to_contain_text("brings a pilot to an arriving ship")


def test_what_failed_is_told_and_tried_again_without_scripts(visit, olive, project, source):
    page = visit(olive, java_script_enabled=False)
    page.goto(f"{project.url}repositories/add/")
    page.get_by_role("textbox", name="Address").fill(str(source.path))
    page.get_by_role("textbox", name="Branches").fill("main\nw*")
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator("#connection")).to_contain_text("2 would be followed")
    expect(page.get_by_role("textbox", name="Branches")).to_have_value("main\nw*")
    page.get_by_role("button", name="Add repository").click()
    away = source.path.with_name("away.git")
    source.path.rename(away)
    page.get_by_role("button", name="Collect now").click()

    def reload_until(text: str) -> None:
        expect(page.locator("h1")).to_contain_text("Collection")
        for _ in range(40):
            if text in page.locator("h1").inner_text():
                return
            page.wait_for_timeout(250)
            page.reload()
        expect(page.locator("h1")).to_contain_text(text)

    reload_until("Completed with 1 failure")
    expect(page.locator(".collection-progress")).to_contain_text("There is no git repository")
    away.rename(source.path)
    page.get_by_role("button", name="Retry the failed (1)").click()
    reload_until("Completed")
    # Nobody had been able to say which branches there are; now both are collected.
    expect(page.locator(".bar-legend")).to_contain_text("2 / 2")
    expect(page.locator(".bar-legend")).to_contain_text("6 new commits")
    page.get_by_role("link", name=re.compile("Goes on from")).click()
    expect(page.locator("h1")).to_contain_text("Completed with 1 failure")


def test_a_key_does_not_outlive_the_session(visit, olive, project):
    """What else was written does."""
    page = visit(olive)
    page.goto(f"{project.url}repositories/add/")
    page.get_by_role("textbox", name="Address").fill("git@git.example.com:quay.git")
    page.get_by_role("textbox", name="Deploy key").fill("-----BEGIN OPENSSH PRIVATE KEY-----\nx")
    page.context.clear_cookies(name=re.compile("session"))
    page.get_by_role("button", name="Add repository").click()
    expect(page.get_by_role("heading", level=1, name="Sign in")).to_be_visible()
    assert "PRIVATE" not in page.evaluate("JSON.stringify(sessionStorage)")
    sign_in(page, olive.name, PASSWORD)
    expect(page.get_by_role("textbox", name="Address")).to_have_value(
        "git@git.example.com:quay.git"
    )
    expect(page.get_by_role("textbox", name="Deploy key")).to_have_value("")
