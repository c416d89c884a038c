import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    StorageState,
    expect,
    sync_playwright,
)

from tests.browser.visiting import (
    PASSWORD,
    PATIENCE_MS,
    LiveSite,
    Person,
    SharedProject,
    Trouble,
    sign_in,
)
from tests.site.running import empty_site, free_port

HERE = Path(__file__).parent
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
FIRST_SIGN_IN = re.compile(r"sign in as (\w+) with the password (\S+)")

Visit = Callable[..., Page]
_serial = count(1)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One site and one browser serve all tests of this folder."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.xdist_group("browser"))


# The fixtures of the package end with its last test, not with the session: an event loop that
# Playwright left behind would disturb the tests that come after these.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no Chromium on this machine: install Debian's package chromium")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=OPTIONS)
        yield browser
        browser.close()


# The browser comes first: without one, no site needs to start.
@pytest.fixture(scope="package")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSite]:
    port = free_port()
    repositories = tmp_path_factory.mktemp("repositories")
    with ExitStack() as opened:
        site = opened.enter_context(
            empty_site(
                tmp_path_factory.mktemp("browser") / "data",
                # With kinds of work that tests can have done.
                DJANGO_SETTINGS_MODULE="tests.work.settings",
                GLOSSARY_GIT_ROOTS=str(repositories),
            )
        )
        serve = site.start("serve", "--port", str(port))
        serve.wait_for_output("Glossary Site is running")
        printed = FIRST_SIGN_IN.search(serve.output)
        assert printed, serve.output
        name, password = printed.groups()
        live = LiveSite(site, serve, f"http://127.0.0.1:{port}", name, password, repositories)
        opened.callback(live.close)
        live.welcome("olive", "vera")
        yield live


@pytest.fixture
def olive(site: LiveSite) -> Person:
    """Owns what tests make."""
    return site.people["olive"]


@pytest.fixture
def vera(site: LiveSite) -> Person:
    """Is invited, and removed."""
    return site.people["vera"]


@pytest.fixture
def project(site: LiveSite, olive: Person) -> SharedProject:
    # No name is the beginning of another, so that a filter finds one.
    name = f"Harbour {next(_serial):03}"
    answer = olive.api.post("/projects", json={"name": name})
    answer.raise_for_status()
    id = answer.json()["id"]
    return SharedProject(id, name, olive, f"{site.url}/projects/{id}/")


@pytest.fixture
def trouble() -> Iterator[Trouble]:
    trouble = Trouble()
    yield trouble
    assert trouble.unexpected == []


@pytest.fixture
def visit(browser: Browser, site: LiveSite, trouble: Trouble) -> Iterator[Visit]:
    """A new browser window at an address, in which the given person has signed in."""
    contexts: list[BrowserContext] = []

    def open_window(person: Person | None = None, **options) -> Page:
        if person and not person.session:
            person.session = signed_in(person)
        session = person.session if person else None
        context = browser.new_context(base_url=site.url, storage_state=session, **options)
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        trouble.watch(context)
        return context.new_page()

    def signed_in(person: Person) -> StorageState:
        context = browser.new_context(base_url=site.url)
        page = context.new_page()
        page.goto("/")
        sign_in(page, person.name, PASSWORD)
        session = context.storage_state()
        context.close()
        return session

    yield open_window
    for context in contexts:
        # An answer that a test was still holding back would fail in the next test.
        for page in context.pages:
            page.unroute_all(behavior="wait")
        context.close()
