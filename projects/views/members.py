"""Who belongs to a project: everybody in it may look, its owners change."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from glossary_site.errors import Refusal
from glossary_site.pages import render_page
from projects.access import Action, can, project_for
from projects.choices import Role
from projects.forms import MemberForm, RoleForm
from projects.models import Membership, Project
from projects.services.members import add_member, change_role, remove_member
from projects.views.pages import project_context


@require_http_methods(["GET", "HEAD", "POST"])
def member_list(request: HttpRequest, project_id: int) -> HttpResponse:
    if request.method == "POST":
        return _invite(request, project_for(request.user, project_id, Action.MANAGE))
    project = project_for(request.user, project_id, Action.VIEW)
    return _page(request, project, MemberForm(initial={"role": Role.VIEWER}))


def _invite(request: HttpRequest, project: Project) -> HttpResponse:
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            membership = add_member(
                project=project,
                username=form.cleaned_data["username"],
                role=Role(form.cleaned_data["role"]),
                actor=request.user,
            )
        except Refusal as refusal:
            form.add_error("username", str(refusal))
        else:
            messages.success(
                request, _("“%(name)s” is now a member.") % {"name": membership.user.username}
            )
            return redirect("project-members", project.pk)
    return _page(request, project, form, status=422)


def _page(
    request: HttpRequest, project: Project, form: MemberForm, *, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = project_context(request, project, "members")
    rows = project.memberships.select_related("user").order_by("user__username", "pk")
    context |= {"memberships": rows, "form": form, "roles": Role.choices}
    return render_page(
        request, "projects/members.html", "projects/_members.html", context, status=status
    )


@require_POST
def change(request: HttpRequest, project_id: int, member_id: int) -> HttpResponse:
    project, membership = _membership(request, project_id, member_id)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("There is no such role."))
        return redirect("project-members", project.pk)
    try:
        change_role(membership=membership, role=Role(form.cleaned_data["role"]), actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(
            request,
            _("“%(name)s” now has the role “%(role)s”.")
            % {"name": membership.user.username, "role": membership.get_role_display()},
        )
    return redirect("project-members", project.pk)


@require_POST
def remove(request: HttpRequest, project_id: int, member_id: int) -> HttpResponse:
    project, membership = _membership(request, project_id, member_id)
    name = membership.user.username
    try:
        remove_member(membership=membership, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return redirect("project-members", project.pk)
    messages.success(request, _("“%(name)s” is no longer a member.") % {"name": name})
    if not can(request.user, Action.VIEW, project):
        # An owner who removed themselves has no page left to come back to.
        return redirect("project-list")
    return redirect("project-members", project.pk)


def _membership(
    request: HttpRequest, project_id: int, member_id: int
) -> tuple[Project, Membership]:
    project = project_for(request.user, project_id, Action.MANAGE)
    rows = Membership.objects.select_related("user", "project")
    return project, get_object_or_404(rows, project=project, pk=member_id)
