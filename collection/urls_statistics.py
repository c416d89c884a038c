from django.urls import path

from collection.views import authors, branch_removal, commits, exports, statistics

urlpatterns = [
    path(
        "projects/<int:project_id>/repositories/<int:repository_id>/branches/<int:branch_id>/remove/",
        branch_removal.branch_remove,
        name="branch-remove",
    ),
    path("projects/<int:project_id>/commits/", commits.commit_list, name="commits"),
    path("projects/<int:project_id>/commits/<int:commit_id>/", commits.commit_page, name="commit"),
    path("projects/<int:project_id>/statistics/", statistics.statistics_page, name="statistics"),
    path(
        "projects/<int:project_id>/statistics/export.<str:format>",
        exports.statistics_export,
        name="statistics-export",
    ),
    path(
        "projects/<int:project_id>/statistics/filters/",
        statistics.filter_save,
        name="statistics-filters",
    ),
    path(
        "projects/<int:project_id>/statistics/filters/<int:filter_id>/rename/",
        statistics.filter_rename,
        name="statistics-filter-rename",
    ),
    path(
        "projects/<int:project_id>/statistics/filters/<int:filter_id>/delete/",
        statistics.filter_delete,
        name="statistics-filter-delete",
    ),
    path("projects/<int:project_id>/authors/", authors.author_list, name="authors"),
]
