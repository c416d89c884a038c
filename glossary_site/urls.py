from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from django.views.i18n import set_language

from glossary_site.observe.views import metrics
from glossary_site.people.urls import urlpatterns as people_urls
from glossary_site.views import healthz

admin.autodiscover()

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("language", login_not_required(set_language), name="set_language"),
    path("admin/", admin.site.urls),
    path("account/", include(people_urls)),
    path("operations/", include("glossary_site.jobs.urls")),
    path("operations/llm/", include("glossary_site.llm.urls")),
    path("api/", include("glossary_site.jobs.api.urls")),
    path("api/", include("glossary_site.llm.api.urls")),
    path("api/", include("projects.api.urls")),
    path("api/", include("indexing.api.urls")),
    path("api/", include("runs.api.urls")),
    path("api/", include("collection.api.urls")),
    path("api/", include("glossary_site.api.urls")),  # the last under api/: it ends in a 404
    path("", include("indexing.urls")),
    path("", include("runs.urls")),
    path("", include("collection.urls")),
    path("", include("projects.urls")),
]
