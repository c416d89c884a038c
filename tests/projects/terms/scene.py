"""Terms, and what an extraction finds."""

from glossary_site.live.reading import events_after
from projects.models import (
    Term,
)
from projects.services.terms import (
    Found,
    Taken,
    take_extraction,
)
from projects.terms.keys import key_of


def found(text: str, **fields) -> Found:
    values = {
        "key": key_of(text),
        "reading": text.casefold(),
        "language": "en",
        "category": "technical_term",
        "score": 5.0,
        "frequency": 3,
        "document_count": 1,
        "variants": (text,),
        "occurrences": ((1, 2, 3),),
    }
    return Found(text=text, **{**values, **fields})


def extract(project, *texts: str | Found) -> Taken:
    rows = [text if isinstance(text, Found) else found(text) for text in texts]
    return take_extraction(project=project, found=rows)


def term(project, text: str) -> Term:
    return Term.objects.get(project=project, key=key_of(text))


def told(project) -> list[dict]:
    events = events_after(project.stream, 0)
    return [event["payload"] for event in events if event["type"] == "terms.changed"]
