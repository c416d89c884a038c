from django.urls import path

from indexing.views import facts, search, settings, status

urlpatterns = [
    path("search/", search.search_everywhere, name="search"),
    path("projects/<int:project_id>/search/", search.project_search, name="project-search"),
    path("projects/<int:project_id>/index/", status.index, name="project-index"),
    path("projects/<int:project_id>/index/rebuild/", status.rebuild_all, name="index-rebuild"),
    path("projects/<int:project_id>/index/retry/", status.retry_all, name="index-retry-all"),
    path(
        "projects/<int:project_id>/index/requests/<int:request_id>/retry/",
        status.retry,
        name="index-retry",
    ),
    path(
        "projects/<int:project_id>/documents/<int:document_id>/index/",
        facts.document_state,
        name="document-index",
    ),
    path(
        "projects/<int:project_id>/settings/search/",
        settings.search_settings,
        name="project-search-settings",
    ),
    path("projects/<int:project_id>/settings/folder/", settings.folder, name="project-folder"),
    path(
        "projects/<int:project_id>/settings/folder/<int:folder_id>/remove/",
        settings.remove,
        name="folder-remove",
    ),
]
