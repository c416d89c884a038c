"""Where the web process listens, and whether it answers."""

import errno
import http.client
import socket
import time
from dataclasses import dataclass

from django.conf import settings
from django.core.management import CommandError
from django.utils.translation import gettext as _

from glossary_site.processes.supervisor import ChildFailed

ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104
HEALTH_PATH = "/healthz"
ANSWER_SECONDS = 2.0
ERROR_PAUSE_SECONDS = 1.0
MOST_ERRORS = 3


@dataclass(frozen=True)
class Address:
    host: str
    port: int

    @property
    def reachable_host(self) -> str:
        """A server that listens everywhere is asked, and shown, at this machine's own address."""
        return ANY_ADDRESS.get(self.host, self.host)

    @property
    def url(self) -> str:
        host = self.reachable_host
        return f"http://[{host}]:{self.port}/" if ":" in host else f"http://{host}:{self.port}/"

    def require_free(self) -> None:
        """The web process would find out as well, but not say it in one sentence."""
        try:
            family, kind, protocol, _name, address = socket.getaddrinfo(
                self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            with socket.socket(family, kind, protocol) as probe:
                # Connections of a server that has just ended do not count, as for the real one.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
                probe.listen(1)
        except OSError as error:
            values = {"host": self.host, "port": self.port, "reason": error.strerror}
            if error.errno == errno.EADDRINUSE:
                sentence = _("Port %(port)s on %(host)s is taken. Choose another with --port.")
            else:
                sentence = _("Cannot listen on %(host)s port %(port)s: %(reason)s.")
            raise CommandError(sentence % values) from error


class HealthCheck:
    """Asks a web process that is starting whether it is there and reaches its database."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._errors = 0
        self._next_try = 0.0

    def passed(self) -> bool:
        if time.monotonic() < self._next_try:
            return False
        status = self._status()
        if status is None or status == http.HTTPStatus.OK:
            return status is not None
        # It is there and has a problem, of which every try writes a report.
        self._errors += 1
        self._next_try = time.monotonic() + ERROR_PAUSE_SECONDS
        if self._errors == MOST_ERRORS:
            raise ChildFailed(
                f"The web process answers with an error (status {status}); "
                "its last messages say why."
            )
        return False

    def _status(self) -> int | None:
        """What it answers; None while it does not."""
        connection = http.client.HTTPConnection(
            self._address.reachable_host, self._address.port, timeout=ANSWER_SECONDS
        )
        try:
            connection.request("GET", HEALTH_PATH, headers={"Host": _allowed_host()})
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()


def _allowed_host() -> str:
    """A name under which the site answers; the address it listens on need not be one."""
    first = settings.ALLOWED_HOSTS[0] if settings.ALLOWED_HOSTS else "*"
    return "localhost" if first == "*" else first.removeprefix(".")
