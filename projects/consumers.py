from typing import Any

from django.contrib.auth.models import AnonymousUser

from glossary_site.live.consumer import LiveConsumer
from glossary_site.people.models import User
from projects import feed


class ProjectConsumer(LiveConsumer):
    """`/ws/projects/<id>/`"""

    access_events = feed.ACCESS_EVENTS

    @property
    def project_id(self) -> int:
        return int(self.scope["url_route"]["kwargs"]["project_id"])

    def stream(self) -> str:
        return feed.stream_of(self.project_id)

    def may_read(self, user: User | AnonymousUser) -> bool:
        return feed.may_read(user, self.project_id)

    def snapshot(self) -> dict[str, Any]:
        return feed.snapshot(self.project_id)
