"""The queue of a cluster in Redis."""

from django_q.brokers.redis_broker import Redis


class RedisQueue(Redis):
    """django-q2's queue in Redis. While tasks are there it takes several at once."""

    at_once = 1
    _more_expected = False

    def dequeue(self) -> list[tuple[None, bytes]] | None:
        if self._more_expected and self.at_once > 1:
            tasks = self.connection.lpop(self.list_key, self.at_once)
            if tasks:
                return [(None, task) for task in tasks]
        found: list[tuple[None, bytes]] | None = super().dequeue()
        self._more_expected = bool(found)
        return found
