from django.urls import path, re_path

from glossary_site.jobs.consumers import OperationsConsumer
from glossary_site.live.consumer import NoSuchFeed
from projects.consumers import ProjectConsumer

websocket_urlpatterns = [
    path("ws/projects/<int:project_id>/", ProjectConsumer.as_asgi()),
    path("ws/operations/", OperationsConsumer.as_asgi()),
    re_path("", NoSuchFeed.as_asgi()),
]
