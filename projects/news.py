"""A project's events as sentences in the reader's language.

Each type of event has one function from its payload to a sentence. Apps above this one add theirs
to `SENTENCES`; a type nobody knows is shown plainly, so that no news is hidden.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.urls import NoReverseMatch, reverse
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from glossary_site.live.models import Event
from glossary_site.llm import news as llm_news
from projects.choices import Role, Source

# Events that keep open pages up to date and are no news: a long job would push those out of sight.
PROGRESS = (
    Q(type__startswith="job.")
    | Q(type__startswith="index.")
    | Q(type__in=[llm_news.PROGRESS, llm_news.CHANGED, "run.progress"])
    | Q(type__in=["terms.changed", "glossary.changed"])
    | Q(type__in=["repositories.changed", "collection.progress", "authors.changed"])
)

Payload = dict[str, Any]
Sentence = Callable[[Payload], SafeString]

# A large upload must not push the other news out of sight.
SHOWN_PATHS = 3


@dataclass(frozen=True)
class News:
    """One line of the activity: what happened, when, and a few of the paths it touched."""

    number: int
    type: str
    icon: str
    sentence: SafeString
    paths: list[str]
    more: int
    time: datetime

    @property
    def first_paths(self) -> list[str]:
        return self.paths[:SHOWN_PATHS]

    @property
    def other_paths(self) -> list[str]:
        return self.paths[SHOWN_PATHS:]

    @property
    def folded(self) -> int:
        """How many files are behind the first paths, with those the event does not name."""
        return len(self.other_paths) + self.more


def news_of(event: Event, project_id: int | None = None) -> News:
    """With the project, what the sentence speaks of can be a link."""
    payload: Payload = event.payload if isinstance(event.payload, dict) else {}
    payload = payload | {"project_id": project_id}
    icon, sentence = SENTENCES.get(event.type, ("info", None))
    paths = [str(path) for path in payload.get("paths", [])]
    touched = sum(_count(payload, key) for key in ("created", "updated", "deleted"))
    return News(
        number=event.number,
        type=event.type,
        icon=icon,
        sentence=sentence(payload) if sentence else _plain(event.type),
        paths=paths,
        more=max(0, touched - len(paths)) if paths else 0,
        time=event.created_at,
    )


def say(text: str, **parts: str | int) -> SafeString:
    """A translated sentence with the parts put in, escaped; its own words come from us."""
    escaped = {
        key: conditional_escape(str(part) if isinstance(part, int) else part)
        for key, part in parts.items()
    }
    return mark_safe(text % escaped)  # noqa: S308


def strong(text: object) -> SafeString:
    return format_html("<strong>{}</strong>", str(text))


def linked(words: SafeString, page: str, *where: object) -> SafeString:
    """To the page of that name, if there is one at such a place: the feed may say anything."""
    try:
        return format_html('<a href="{}">{}</a>', reverse(page, args=where), words)
    except NoReverseMatch:
        return words


def person(name: object) -> SafeString:
    """A name as the reader's language speaks of people: in Japanese with さん."""
    return say(pgettext("person", "%(name)s"), name=strong(name))


def by(payload: Payload) -> SafeString:
    """Who did it; a command run on the machine itself has no person's name."""
    if name := payload.get("by"):
        return person(name)
    return strong(_("A collection") if payload.get("source") == Source.GIT else _("An operator"))


def _path(value: object) -> SafeString:
    return format_html('<strong class="path">{}</strong>', str(value))


def _role(payload: Payload) -> SafeString:
    role = payload.get("role", "")
    return strong(Role(role).label if role in Role.values else role)


def _count(payload: Payload, key: str) -> int:
    value = payload.get(key, 0)
    return value if isinstance(value, int) else 0


def _plain(type: str) -> SafeString:
    return format_html("<code>{}</code>", type)


def _created(payload: Payload) -> SafeString:
    return say(
        _("%(by)s made the project %(name)s."), by=by(payload), name=strong(payload.get("name", ""))
    )


def _changed(payload: Payload) -> SafeString:
    if "name" in payload.get("changed", []):
        return say(
            _("%(by)s renamed the project to %(name)s."),
            by=by(payload),
            name=strong(payload.get("name", "")),
        )
    return say(_("%(by)s changed the project’s settings."), by=by(payload))


def _llm_changed(payload: Payload) -> SafeString:
    return say(_("%(by)s changed the project’s language model."), by=by(payload))


def _deleted(payload: Payload) -> SafeString:
    return say(
        _("%(by)s deleted the project %(name)s."),
        by=by(payload),
        name=strong(payload.get("name", "")),
    )


def _member_added(payload: Payload) -> SafeString:
    return say(
        _("%(by)s added %(user)s as %(role)s."),
        by=by(payload),
        user=person(payload.get("user", "")),
        role=_role(payload),
    )


def _member_changed(payload: Payload) -> SafeString:
    return say(
        _("%(by)s changed the role of %(user)s to %(role)s."),
        by=by(payload),
        user=person(payload.get("user", "")),
        role=_role(payload),
    )


def _member_removed(payload: Payload) -> SafeString:
    user = payload.get("user", "")
    if user and user == payload.get("by"):
        return say(_("%(user)s left the project."), user=person(user))
    return say(_("%(by)s removed %(user)s."), by=by(payload), user=person(user))


def _documents_stored(payload: Payload) -> SafeString:
    created, updated = _count(payload, "created"), _count(payload, "updated")
    if created and updated:
        return say(
            _("%(by)s added documents (%(created)s) and changed others (%(updated)s)."),
            by=by(payload),
            created=created,
            updated=updated,
        )
    if updated:
        text = ngettext(
            "%(by)s changed %(n)s document.", "%(by)s changed %(n)s documents.", updated
        )
        return say(text, by=by(payload), n=updated)
    text = ngettext("%(by)s added %(n)s document.", "%(by)s added %(n)s documents.", created)
    return say(text, by=by(payload), n=created)


def _document_renamed(payload: Payload) -> SafeString:
    return say(
        _("%(by)s renamed %(before)s to %(after)s."),
        by=by(payload),
        before=_path(payload.get("from", "")),
        after=_path(payload.get("path", "")),
    )


def _documents_deleted(payload: Payload) -> SafeString:
    n = _count(payload, "deleted")
    text = ngettext("%(by)s deleted %(n)s document.", "%(by)s deleted %(n)s documents.", n)
    return say(text, by=by(payload), n=n)


def _entry_added(payload: Payload) -> SafeString:
    return say(
        _("%(by)s added %(term)s to the glossary."),
        by=by(payload),
        term=strong(payload.get("term", "")),
    )


def _entry_edited(payload: Payload) -> SafeString:
    return say(
        _("%(by)s edited the entry %(term)s."),
        by=by(payload),
        term=strong(payload.get("term", "")),
    )


def _entry_unlocked(payload: Payload) -> SafeString:
    return say(
        _("%(by)s lets runs change the entry %(term)s again."),
        by=by(payload),
        term=strong(payload.get("term", "")),
    )


def _entry_deleted(payload: Payload) -> SafeString:
    return say(
        _("%(by)s took %(term)s out of the glossary."),
        by=by(payload),
        term=strong(payload.get("term", "")),
    )


def _published(payload: Payload) -> SafeString:
    created, updated = _count(payload, "created"), _count(payload, "updated")
    if created and updated:
        return say(
            _(
                "%(by)s published a run: entries that are new (%(created)s) or changed "
                "(%(updated)s)."
            ),
            by=by(payload),
            created=created,
            updated=updated,
        )
    if updated:
        text = ngettext(
            "%(by)s published a run: %(n)s changed entry.",
            "%(by)s published a run: %(n)s changed entries.",
            updated,
        )
        return say(text, by=by(payload), n=updated)
    text = ngettext(
        "%(by)s published a run: %(n)s new entry.",
        "%(by)s published a run: %(n)s new entries.",
        created,
    )
    return say(text, by=by(payload), n=created)


def _undone(payload: Payload) -> SafeString:
    if term := payload.get("term"):
        return say(
            _("%(by)s took a change of the entry %(term)s back."),
            by=by(payload),
            term=strong(term),
        )
    n = _count(payload, "undone")
    text = ngettext(
        "%(by)s took the change of %(n)s entry back.",
        "%(by)s took the changes of %(n)s entries back.",
        n,
    )
    return say(text, by=by(payload), n=n)


# Type of event → the icon beside it and the sentence.
SENTENCES: dict[str, tuple[str, Sentence]] = {
    "project.created": ("book", _created),
    "project.changed": ("settings", _changed),
    "llm.settings_changed": ("settings", _llm_changed),
    "project.deleted": ("trash", _deleted),
    "member.added": ("users", _member_added),
    "member.changed": ("users", _member_changed),
    "member.removed": ("users", _member_removed),
    "documents.stored": ("file", _documents_stored),
    "document.renamed": ("edit", _document_renamed),
    "documents.deleted": ("trash", _documents_deleted),
    "glossary.published": ("book", _published),
    "glossary.added": ("book", _entry_added),
    "glossary.edited": ("edit", _entry_edited),
    "glossary.unlocked": ("edit", _entry_unlocked),
    "glossary.deleted": ("trash", _entry_deleted),
    "glossary.undone": ("undo", _undone),
}
