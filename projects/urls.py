from django.urls import include, path

from projects.views import activity, llm_settings, members, projects, work

urlpatterns = [
    path("", projects.project_list, name="project-list"),
    path("projects/new/", projects.project_create, name="project-create"),
    path("projects/<int:project_id>/", projects.overview, name="project"),
    path("projects/<int:project_id>/head/", projects.head, name="project-head"),
    path("projects/<int:project_id>/settings/", projects.settings, name="project-settings"),
    path("projects/<int:project_id>/settings/llm/", llm_settings.llm_settings, name="project-llm"),
    path(
        "projects/<int:project_id>/settings/llm/test/",
        llm_settings.llm_test,
        name="project-llm-test",
    ),
    path("projects/<int:project_id>/clone/", projects.clone, name="project-clone"),
    path("projects/<int:project_id>/delete/", projects.delete, name="project-delete"),
    path("projects/<int:project_id>/members/", members.member_list, name="project-members"),
    path(
        "projects/<int:project_id>/members/<int:member_id>/",
        members.change,
        name="member-change",
    ),
    path(
        "projects/<int:project_id>/members/<int:member_id>/remove/",
        members.remove,
        name="member-remove",
    ),
    path("projects/<int:project_id>/work/", work.work, name="project-work"),
    path(
        "projects/<int:project_id>/work/jobs/<int:run_id>/cancel/",
        work.cancel_job,
        name="work-job-cancel",
    ),
    path(
        "projects/<int:project_id>/work/jobs/<int:run_id>/retry/",
        work.retry_job,
        name="work-job-retry",
    ),
    path(
        "projects/<int:project_id>/work/llm/<uuid:process_id>/cancel/",
        work.cancel_process,
        name="work-process-cancel",
    ),
    path(
        "projects/<int:project_id>/work/llm/<uuid:process_id>/retry/",
        work.retry_process,
        name="work-process-retry",
    ),
    path("projects/<int:project_id>/activity/", activity.activity, name="project-activity"),
    path("projects/<int:project_id>/documents/", include("projects.urls_documents")),
    path("projects/<int:project_id>/", include("projects.urls_terms")),
    path("projects/<int:project_id>/glossary/", include("projects.urls_glossary")),
]
