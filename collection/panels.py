"""What the pages of documents and terms say of commits; empty where there are none."""

from collections.abc import Mapping, Sequence

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from collection.document_history import FEW, commits_of, files_of, last_commit_of, origins_of
from projects.choices import Source
from projects.models import Document, DocumentVersion, Term


def document_commits(request: HttpRequest, document: Document) -> SafeString:
    """The newest commits that touched it, and the way to all of them."""
    commits = commits_of(document, FEW + 1)
    if not commits:
        return SafeString()
    context = {
        "project_id": document.project_id,
        "commits": commits[:FEW],
        "files": files_of(document) if len(commits) > FEW else [],
    }
    return render_to_string("collection/_document_commits.html", context, request)


def term_commit(request: HttpRequest, term: Term) -> SafeString:
    """The newest commit that touched any document in which the term stands."""
    commits = last_commit_of({place[0] for place in term.occurrences})
    if not commits:
        return SafeString()
    document_id, commit = max(
        commits.items(), key=lambda each: (each[1].committed_date, each[1].pk, -each[0])
    )
    document = Document.objects.listed().filter(project=term.project_id, pk=document_id).first()
    if document is None:
        return SafeString()
    context = {"project_id": term.project_id, "commit": commit, "document": document}
    return render_to_string("collection/_term_commit.html", context, request)


def version_origins(versions: Sequence[DocumentVersion]) -> Mapping[int, SafeString]:
    """The commit that each of them came from."""
    collected = [version for version in versions if version.source == Source.GIT]
    return {
        number: render_to_string("collection/_version_origin.html", {"origin": origin})
        for number, origin in origins_of(collected).items()
    }
