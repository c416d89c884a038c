from django.urls import path

from runs.views import compare, deeds, history, log, pipeline, run

urlpatterns = [
    path("projects/<int:project_id>/runs/", history.run_list, name="project-runs"),
    path("projects/<int:project_id>/runs/pipeline/", pipeline.pipeline, name="project-pipeline"),
    path("projects/<int:project_id>/runs/start/", deeds.start_run, name="run-start"),
    path("projects/<int:project_id>/runs/compare/", compare.compare_runs, name="run-compare"),
    path("projects/<int:project_id>/runs/<int:run_id>/", run.run_page, name="run"),
    path("projects/<int:project_id>/runs/<int:run_id>/log/", log.run_log, name="run-log"),
    path(
        "projects/<int:project_id>/runs/<int:run_id>/cancel/", deeds.cancel_run, name="run-cancel"
    ),
    path("projects/<int:project_id>/runs/<int:run_id>/retry/", deeds.retry, name="run-retry"),
    path("projects/<int:project_id>/runs/<int:run_id>/resume/", deeds.resume, name="run-resume"),
    path("projects/<int:project_id>/runs/<int:run_id>/exclude/", deeds.exclude, name="run-exclude"),
    path("projects/<int:project_id>/runs/<int:run_id>/publish/", deeds.publish, name="run-publish"),
    path("projects/<int:project_id>/runs/<int:run_id>/undo/", deeds.undo, name="run-undo"),
]
