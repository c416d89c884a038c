"""The web process: pages, REST, static files and sockets."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "glossary_site.settings")
os.environ.setdefault("GLOSSARY_ROLE", "web")

from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.contrib.staticfiles.finders import (
    AppDirectoriesFinder,
    FileSystemFinder,
    get_finders,
)
from django.core.asgi import get_asgi_application
from servestatic import ServeStaticASGI

django_application = get_asgi_application()

# What follows needs Django set up.
from glossary_site.jobs.registry import discover  # noqa: E402
from glossary_site.observe.middleware import traced  # noqa: E402
from projects.routing import websocket_urlpatterns  # noqa: E402

# Before the first request, not during the first that has work done.
discover()


def with_static_files(application: object) -> ServeStaticASGI:
    """Serve static files from where the packages keep them: nothing to collect.

    Looked up anew each time (autorefresh): a file that an update changes under the running site is
    then served whole, where a remembered length would cut it.
    """
    server = ServeStaticASGI(application, autorefresh=True, allow_all_origins=False)
    for finder in get_finders():
        assert isinstance(finder, (FileSystemFinder, AppDirectoriesFinder))
        for storage in finder.storages.values():
            server.add_files(storage.location, prefix=settings.STATIC_URL)
    return server


application = traced(
    ProtocolTypeRouter(
        {
            "http": with_static_files(django_application),
            "websocket": URLRouter(websocket_urlpatterns),
        }
    )
)
