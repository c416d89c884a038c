from django.urls import path

from glossary_site.jobs.views import definitions, log, operations, runs

urlpatterns = [
    path("", operations.operations, name="operations"),
    path("drain/", operations.drain, name="node-drain"),
    path("undrain/", operations.undrain, name="node-undrain"),
    path("jobs/", runs.run_list, name="job-list"),
    path("jobs/<int:run_id>/", runs.run_page, name="job"),
    path("jobs/<int:run_id>/log/", log.more_lines, name="job-log"),
    path("jobs/<int:run_id>/cancel/", runs.cancel, name="job-cancel"),
    path("jobs/<int:run_id>/retry/", runs.retry, name="job-retry"),
    path("definitions/", definitions.definition_list, name="definition-list"),
    path("definitions/<int:definition_id>/switch/", definitions.switch, name="definition-switch"),
    path("definitions/<int:definition_id>/run/", definitions.run_now, name="definition-run"),
]
