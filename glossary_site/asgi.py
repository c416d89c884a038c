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

from glossary_site.observe.middleware import traced  # noqa: E402 (needs Django set up)
from projects.routing import websocket_urlpatterns  # noqa: E402 (models need Django set up)


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
