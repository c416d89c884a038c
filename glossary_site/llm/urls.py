from django.urls import path

from glossary_site.llm import views

urlpatterns = [
    path("", views.process_list, name="llm-process-list"),
    path("<uuid:process_id>/", views.process_page, name="llm-process"),
    path("<uuid:process_id>/cancel/", views.cancel, name="llm-process-cancel"),
    path("<uuid:process_id>/retry/", views.retry, name="llm-process-retry"),
]
