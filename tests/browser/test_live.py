"""Pages that stay open learn what others do, whatever process it happens in."""

import re
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.browser.visiting import live_indicator, wait_until_live


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tides.md").write_text("# Tides\n")
    return tmp_path


def test_a_command_and_the_worker_are_seen_without_a_reload(site, visit, olive, project, folder):
    page = visit(olive)
    page.goto(project.url)
    wait_until_live(page)
    page.evaluate("window.untouched = true")

    site.start("importdocs", project.name, str(folder))
    news = {"by": "the worker", "created": 3}
    site.send_task("glossary_site.live.services.publish", project.stream, "documents.stored", news)
    expect(page.get_by_role("link", name="Tides")).to_be_visible()
    expect(page.get_by_role("link", name="Documents 1")).to_be_visible()
    expect(page.get_by_text("the worker added 3 documents.")).to_be_visible()
    assert page.evaluate("window.untouched")


def test_a_page_catches_up_after_the_web_process_was_killed(
    site, visit, trouble, olive, project, folder
):
    page = visit(olive)
    page.goto(f"{project.url}documents/")
    wait_until_live(page)
    page.evaluate("window.untouched = true")

    trouble.expect("ERR_CONNECTION_REFUSED", "Error during WebSocket handshake")
    # The supervisor is held, so that something can happen while the site is down.
    site.running.signal(signal.SIGSTOP)
    try:
        site.web_process().kill()
        import_ = site.start("importdocs", project.name, str(folder))
        expect(live_indicator(page)).to_have_text("Reconnecting…")
        assert import_.wait() == 0, import_.output
    finally:
        site.running.signal(signal.SIGCONT)
    site.wait_until_it_answers()

    expect(page.get_by_role("link", name="tides.md")).to_be_visible()
    expect(live_indicator(page)).to_have_text("Live")
    assert page.evaluate("window.untouched")


def test_a_removed_member_is_told(visit, trouble, project, vera):
    project.invite(vera, "viewer")
    page = visit(vera)
    page.goto(project.url)
    wait_until_live(page)

    project.remove(vera)
    expect(live_indicator(page)).to_have_text("You no longer have access")
    expect(page.get_by_role("alert").get_by_role("link", name="To the projects")).to_be_visible()

    trouble.expect("status of 404")
    page.get_by_role("link", name="Members").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing at this address")


def test_a_reader_is_told_of_a_new_version(visit, olive, project):
    address = project.add("log.md", "# Log\n\nCalm.\n")
    page = visit(olive)
    page.goto(address)
    wait_until_live(page)

    project.add("log.md", "# Log\n\nStorm.\n")
    page.get_by_role("link", name="Show the new version").click()
    expect(page.get_by_role("main")).to_contain_text("Storm.")


def test_nothing_is_replaced_under_a_pressed_finger(visit, olive, project):
    """A click begins on one element and ends on it: what came in between waits until it is over."""
    project.add("tides.md", "# Tides\n")
    page = visit(olive)
    page.goto(f"{project.url}documents/")
    wait_until_live(page)
    link = page.get_by_role("link", name="tides.md")
    box = link.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    with page.expect_response(lambda answer: "/documents/" in answer.url):
        project.add("piers.md", "# Piers\n")
    page.wait_for_timeout(300)
    expect(page.get_by_role("link", name="piers.md")).to_have_count(0)
    page.mouse.up()
    expect(page.get_by_role("heading", level=1, name="Tides")).to_be_visible()


def test_an_answer_is_not_lost_to_an_update(visit, olive, project):
    """The list that it was for would be gone: an update that comes in between waits."""
    for name in ("tides", "piers"):
        project.add(f"{name}.md", f"# {name}\n")
    page = visit(olive)
    page.goto(f"{project.url}documents/")
    wait_until_live(page)
    names = page.locator("#results [data-row-link]")
    expect(names).to_have_count(2)
    held: dict[bool, Route] = {}
    page.route(
        re.compile("/documents/"), lambda route: held.update({"q=" in route.request.url: route})
    )
    with page.expect_request(re.compile("/documents/$")):
        project.add("quays.md", "# quays\n")
    with page.expect_request(re.compile("q=pier")):
        page.get_by_role("searchbox").fill("pier")
    with page.expect_response(re.compile("/documents/$")):
        held[False].continue_()
    page.wait_for_timeout(300)
    held[True].continue_()
    expect(names).to_have_text(["piers.md"])
    # The list goes on to be live, as it is filtered.
    page.unroute_all()
    project.add("piers-2.md", "# piers\n")
    expect(names).to_have_text(["piers-2.md", "piers.md"])
