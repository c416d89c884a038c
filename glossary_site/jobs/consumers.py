from typing import Any

from django.contrib.auth.models import AnonymousUser

from glossary_site.jobs.access import may_watch
from glossary_site.jobs.news import OPERATIONS
from glossary_site.live.consumer import LiveConsumer
from glossary_site.people.models import User


class OperationsConsumer(LiveConsumer):
    """`/ws/operations/`"""

    def stream(self) -> str:
        return OPERATIONS

    def may_read(self, user: User | AnonymousUser) -> bool:
        return may_watch(user)

    def snapshot(self) -> dict[str, Any]:
        """Nothing but the number: what there is to see, a page or program asks for by itself."""
        return {}
