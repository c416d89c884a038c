"""Which language model a project asks: the site's, the built-in engine, or one of its own."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from glossary_site.errors import Refusal
from glossary_site.llm.choices import ProviderKind
from glossary_site.llm.connection import Report, test_connection
from glossary_site.llm.forms import ProviderForm, initial_of
from glossary_site.llm.models import Provider
from glossary_site.llm.providers import SITE, key_state, provider_for
from glossary_site.llm.services.providers import (
    InvalidSetting,
    clear_provider,
    save_provider,
)
from glossary_site.pages import render_page
from projects.access import Action, author_of, project_for
from projects.models import Project
from projects.views.pages import project_context

INHERIT = "inherit"


class LlmForm(ProviderForm):
    """A project may also have no provider of its own."""

    kind = forms.ChoiceField(
        label=gettext_lazy("Language model"),
        choices=[(INHERIT, gettext_lazy("The site’s")), *ProviderKind.choices],
    )


@require_http_methods(["GET", "HEAD", "POST"])
def llm_settings(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.MANAGE)
    if request.method != "POST":
        return _page(request, project)
    form = LlmForm(request.POST)
    if form.is_valid() and _saved(request, project, form):
        return redirect("project-llm", project.pk)
    if form.data.get("api_key") and "api_key" not in form.errors:
        # No page ever carries a key, not even the one that was just typed.
        form.add_error("api_key", _("Type the key in again: nothing was saved yet."))
    return _page(request, project, form=form, status=422)


@require_POST
def llm_test(request: HttpRequest, project_id: int) -> HttpResponse:
    """What is in force is asked, not what is typed in the form beside it."""
    project = project_for(request.user, project_id, Action.MANAGE)
    return _page(request, project, report=test_connection(provider_for(project.stream)))


def _saved(request: HttpRequest, project: Project, form: LlmForm) -> bool:
    actor = author_of(request.user)
    values = form.cleaned_data
    had_key = Provider.objects.filter(scope=project.stream).exclude(encrypted_key="").exists()
    try:
        if values["kind"] == INHERIT:
            clear_provider(scope=project.stream, actor=actor)
            messages.success(request, _("The project uses the site’s language model."))
            return True
        row = save_provider(
            scope=project.stream,
            wish=form.wish(),
            key=values["api_key"],
            clear_key=values["clear_key"],
            version=values["version"],
            actor=actor,
        )
    except InvalidSetting as invalid:
        form.add_error(invalid.field if invalid.field in form.fields else None, str(invalid))
        return False
    except Refusal as refusal:
        form.add_error(None, str(refusal))
        return False
    messages.success(request, _("The settings are saved. Test the connection next."))
    if had_key and not row.encrypted_key and not values["clear_key"]:
        messages.warning(request, _("The stored key was forgotten: it was for another address."))
    return True


def _page(
    request: HttpRequest,
    project: Project,
    *,
    form: LlmForm | None = None,
    report: Report | None = None,
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = project_context(request, project, "settings")
    own = Provider.objects.filter(scope=project.stream).first()
    context |= {
        "form": form or LlmForm(initial=initial_of(own) | ({} if own else {"kind": INHERIT})),
        "key": key_state(own),
        "in_force": provider_for(project.stream),
        "inherited": provider_for(SITE),
        "report": report,
        "settings_tab": "llm",
    }
    template = "projects/llm_settings.html"
    return render_page(request, template, "llm/_report.html", context, status=status)
