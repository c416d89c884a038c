"""What this app adds to the projects below it, which cannot ask it: imports point the other way."""

from indexing.services.deleting import delete_sections_of
from indexing.services.requests import request_texts
from indexing.services.waking import DRAIN
from indexing.views.facts import INDEX_STATE
from projects.document_facts import FACTS
from projects.followers import FOLLOWERS
from projects.stopping import EMPTIERS
from projects.work import TOLD_ELSEWHERE

# Whoever writes a text makes a request for it, in the same transaction.
FOLLOWERS.append(request_texts)
# Beside each document, how fresh what is found of it is.
FACTS.append(INDEX_STATE)
# The index has a page of its own.
TOLD_ELSEWHERE.add(DRAIN)
# The sections of a deleted project are many, and their words are more.
EMPTIERS.append(delete_sections_of)
