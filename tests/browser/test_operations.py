"""Background work in a browser: it appears, moves and ends by itself, and can be stopped."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_pages import audit, background, beyond_the_edge
from tests.browser.visiting import LiveSite, Person, wait_until_live
from tests.site.running import wait_for

MAKE_OPERATOR = """
from django.contrib.auth.models import Permission
from glossary_site.people.models import User
operator = User.objects.get(username="oprah")
operator.user_permissions.set(
    Permission.objects.filter(codename__in=["view_jobrun", "change_jobrun"])
)
"""


@pytest.fixture(scope="module")
def oprah(site: LiveSite) -> Person:
    """Operates the site."""
    site.welcome("oprah")
    site.site.ask(MAKE_OPERATOR)
    return site.people["oprah"]


def ask_for(site: LiveSite, kind: str, payload: dict[str, Any], **options: Any) -> int:
    """Have work done, asked for by another process; the number of the job."""
    return int(
        site.site.ask(
            "from glossary_site.jobs.services.enqueue import enqueue\n"
            f"print(enqueue({kind!r}, {payload!r}, **{options!r}).pk)"
        )
    )


def open_page(page: Page, address: str) -> None:
    page.goto(address)
    wait_until_live(page)
    page.evaluate("window.untouched = true")


def test_work_appears_and_ends_without_a_reload(site, visit, oprah, tmp_path: Path):
    page = visit(oprah)
    open_page(page, "/operations/")
    # What somebody has reached with the keyboard stays under their fingers.
    page.locator("#all-failed").focus()
    steps = {"path": str(tmp_path / "steps"), "total": 8, "pause": 0.5}
    number = ask_for(site, "work.steps", steps)
    row = page.get_by_role("table", name="Running").get_by_role("row", name=f"#{number}")
    expect(row).to_be_visible()
    expect(row).to_contain_text("/ 8 · step")
    expect(row).to_have_count(0)
    assert page.evaluate("document.activeElement.id") == "all-failed"
    assert page.evaluate("window.untouched")
    page.get_by_role("link", name="Jobs", exact=True).click()
    expect(page.get_by_role("row", name=f"#{number}")).to_contain_text("Succeeded")


def test_a_running_job_is_cancelled_by_its_button(site, visit, oprah):
    number = ask_for(site, "work.slog", {"seconds": 300})
    page = visit(oprah)
    open_page(page, "/operations/")
    page.locator(f"#cancel-{number}-button").click()
    confirm = page.get_by_role("button", name=f"Cancel job {number}")
    # News that come meanwhile do not close the question.
    ask_for(site, "work.note", {})
    page.wait_for_timeout(2500)
    expect(confirm).to_be_visible()
    confirm.click()
    expect(page.get_by_text(f"Job {number} is cancelled.")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Cancelled")
    assert oprah.api.get(f"/jobs/{number}").json()["state"] == "CANCELED"

    def idle() -> bool:
        nodes = oprah.api.get("/operations").json()["nodes"]
        return not any(worker["jobs"] for node in nodes for worker in node["workers"])

    wait_for("the worker has put it down", idle)


def test_a_job_begun_by_hand_shows_its_log_as_it_comes(site, visit, oprah):
    number = int(
        site.site.ask(
            "from datetime import timedelta\n"
            "from django.utils import timezone\n"
            "from glossary_site.jobs.services.enqueue import enqueue\n"
            "later = timezone.now() + timedelta(hours=1)\n"
            "print(enqueue('work.fail', {'permanent': True}, run_after=later).pk)"
        )
    )
    page = visit(oprah)
    open_page(page, f"/operations/jobs/{number}/")
    expect(page.get_by_text("It waits for its time, in 59 min.")).to_be_visible()
    page.get_by_role("button", name="Begin now").click()
    wait_until_live(page)
    page.evaluate("window.untouched = true")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Failed")
    expect(page.get_by_role("log")).to_contain_text("PermanentFailure: The file is empty.")
    assert page.evaluate("window.untouched")


def test_a_node_is_drained_and_put_back(visit, oprah):
    page = visit(oprah)
    open_page(page, "/operations/")
    page.locator("summary", has_text="Drain").click()
    page.get_by_role("button", name="Drain this node").click()
    expect(page.get_by_text("it has nothing in hand and takes nothing new.")).to_be_visible()
    page.get_by_role("button", name="Put back").click()
    expect(page.get_by_text("takes work again.")).to_be_visible()
    expect(page.locator("summary", has_text="Drain")).to_be_visible()


def test_members_see_the_work_of_their_project(site, visit, olive, project, tmp_path: Path):
    page = visit(olive)
    open_page(page, f"{project.url}work/")
    expect(page.get_by_text("No background work yet")).to_be_visible()
    steps = {"path": str(tmp_path / "steps"), "total": 600, "pause": 0.5}
    number = ask_for(site, "work.steps", steps, scope=project.stream)
    row = page.get_by_role("row", name=f"#{number}")
    expect(row).to_contain_text("/ 600 · step")
    expect(page.get_by_role("link", name="Work 1")).to_be_visible()
    assert page.evaluate("window.untouched")

    page.locator(f"#cancel-{number}-button").click()
    page.get_by_role("button", name=f"Cancel job {number}").click()
    expect(page.get_by_text(f"Job {number} is cancelled.")).to_be_visible()
    page.goto(f"{project.url}activity/")
    expect(page.locator("#event-1")).to_be_visible()
    expect(page.locator(".timeline > li")).to_have_count(1)


def test_who_is_no_operator_is_told_so(visit, trouble, olive):
    trouble.expect("status of 403")
    page = visit(olive)
    page.goto("/")
    expect(page.get_by_role("link", name="Operations")).to_have_count(0)
    page.goto("/operations/")
    expect(page.get_by_role("heading", level=1)).to_have_text("You may not do this")


def test_every_page_fits_a_telephone_and_names_its_parts(site, visit, oprah, olive, project):
    ask_for(site, "work.fail", {"permanent": True}, scope=project.stream)
    number = ask_for(site, "work.note", {"line": "x" * 300}, idempotency_key="k" * 190)
    process = site.site.ask(
        "from tests.llm.working import enqueued, questions\n"
        f"print(enqueued(questions(3), scope={project.stream!r}).pk)"
    )
    telephone = {"width": 375, "height": 812}
    addresses = [
        (oprah, "/operations/"),
        (oprah, "/operations/jobs/"),
        (oprah, f"/operations/jobs/{number}/"),
        (oprah, "/operations/definitions/"),
        (oprah, "/operations/llm/"),
        (oprah, f"/operations/llm/{process}/"),
        (olive, f"{project.url}work/"),
    ]
    windows = {person.name: visit(person, viewport=telephone) for person in (oprah, olive)}
    wrong = {}
    for person, address in addresses:
        window = windows[person.name]
        window.goto(address)
        window.emulate_media(color_scheme="light")
        light = background(window)
        found = audit(window)
        window.emulate_media(color_scheme="dark")
        if beyond_the_edge(window):
            found.append("scrolls sideways")
        if background(window) == light:
            found.append("no dark theme")
        if found:
            wrong[address] = found
    assert wrong == {}
