"""The site as browser tests meet it: real processes, people who have accounts, and a watchful eye.

Playwright keeps an event loop in this thread, so nothing here may use Django's ORM: what a test
needs is made over REST or by commands.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil
from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Response,
    StorageState,
    expect,
)

from projects.feed import stream_of
from tests.site.running import Running, Site, wait_for

PASSWORD = "correct horse battery staple"
# Reached only when something is broken or the machine is very busy.
PATIENCE_MS = 20_000
# A page that is left while its socket is being opened makes Chromium say this.
LEFT_EARLY = "WebSocket is closed before the connection is established"

MAKE_PEOPLE = """
import json
from glossary_site.people.models import User
from glossary_site.people.services import create_token
made = {}
for name in names:
    user = User.objects.create_user(name, password=password)
    made[name] = [user.pk, create_token(user=user, name="browser tests")[1]]
print(json.dumps(made))
"""


@dataclass
class Person:
    """Somebody with an account; programs of theirs use the token."""

    id: int
    name: str
    api: httpx.Client
    # Cookies of a browser in which they have signed in.
    session: StorageState | None = None


@dataclass
class LiveSite:
    """`manage.py serve` and the people who use it."""

    site: Site
    running: Running
    url: str
    administrator: str
    first_password: str
    # Below it are git repositories that may be collected.
    repositories: Path
    people: dict[str, Person] = field(default_factory=dict)

    def welcome(self, *names: str) -> None:
        given = f"names, password = {names!r}, {PASSWORD!r}"
        made = json.loads(self.site.ask(f"{given}\n{MAKE_PEOPLE}"))
        for name, (id, token) in made.items():
            api = httpx.Client(
                base_url=f"{self.url}/api",
                headers={"Authorization": f"Bearer {token}"},
                timeout=PATIENCE_MS / 1000,
            )
            self.people[name] = Person(id, name, api)

    def start(self, *arguments: str) -> Running:
        """Start a command of the site and go on."""
        return self.site.start(*arguments)

    def send_task(self, *call: object) -> None:
        """Have the worker call a function."""
        self.site.send_tasks(call)

    def web_process(self) -> psutil.Process:
        children = psutil.Process(self.running.pid).children()
        return next(child for child in children if "daphne" in child.cmdline())

    def answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz").status_code == 200
        except httpx.TransportError:
            return False

    def wait_until_it_answers(self) -> None:
        wait_for("the site answers", self.answers)

    def close(self) -> None:
        for person in self.people.values():
            person.api.close()


@dataclass
class SharedProject:
    """A project that belongs to one test."""

    id: int
    name: str
    owner: Person
    url: str

    @property
    def stream(self) -> str:
        return stream_of(self.id)

    def add(self, path: str, text: str) -> str:
        """Store a document, or a new version of it; its page's address."""
        answer = self.owner.api.post(
            f"/projects/{self.id}/documents", json={"path": path, "content": text}
        )
        answer.raise_for_status()
        return f"{self.url}documents/{answer.json()['id']}/"

    def invite(self, person: Person, role: str) -> None:
        self.owner.api.post(
            f"/projects/{self.id}/members", json={"username": person.name, "role": role}
        ).raise_for_status()

    def remove(self, person: Person) -> None:
        self.owner.api.delete(f"/projects/{self.id}/members/{person.id}").raise_for_status()


class Trouble:
    """What goes wrong in a browser without a person seeing it: errors in its console, scripts that
    fail, refusals by the Content-Security-Policy, and answers of a server that has failed."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._expected = [LEFT_EARLY]

    def expect(self, *patterns: str) -> None:
        """Notes that belong to this test's story, as regular expressions."""
        self._expected += patterns

    def watch(self, context: BrowserContext) -> None:
        # Chromium's own messages about the policy change; this event does not.
        context.add_init_script(
            "addEventListener('securitypolicyviolation', (event) => console.error("
            "'policy violated:', event.violatedDirective, event.blockedURI, event.sourceFile))"
        )
        context.on("console", self._console)
        context.on("weberror", lambda found: self.notes.append(f"uncaught: {found.error}"))
        context.on("response", self._response)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.notes.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _response(self, response: Response) -> None:
        if response.status >= 500:
            self.notes.append(f"status {response.status}: {response.url}")

    @property
    def unexpected(self) -> list[str]:
        return [
            note
            for note in self.notes
            if not any(re.search(pattern, note) for pattern in self._expected)
        ]


def sign_in(page: Page, name: str, password: str) -> None:
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1, name="Sign in")).to_have_count(0)


def live_indicator(page: Page) -> Locator:
    return page.locator("[data-live-url]")


def wait_until_live(page: Page) -> None:
    expect(live_indicator(page)).to_have_text("Live")


def drop(page: Page, paths: Iterable[Path]) -> None:
    """Let files and folders go over the drop zone, as from a file manager: the browser itself reads
    them, which a drop made by a script cannot do for folders."""
    box = page.locator("[data-dropzone]").bounding_box()
    assert box
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + 20}
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    devtools = page.context.new_cdp_session(page)
    for step in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": step, **place, "data": data})
    devtools.detach()
