"""A branch's commits are deleted: first what that means, then the deed."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from collection.models import Branch
from collection.services.removing import preview_branch, remove_branch_commits
from collection.views.finding import repository_for
from glossary_site.errors import Refusal
from glossary_site.templatetags.site import number
from projects.access import Action
from projects.views.pages import project_context


@require_http_methods(["GET", "HEAD", "POST"])
def branch_remove(
    request: HttpRequest, project_id: int, repository_id: int, branch_id: int
) -> HttpResponse:
    project, repository = repository_for(request.user, project_id, repository_id, Action.MANAGE)
    branch = Branch.objects.filter(repository=repository, pk=branch_id).first()
    if branch is None:
        raise Http404(_("This repository has no such branch."))
    branch.repository = repository
    context = project_context(request, project, "repositories")
    if request.method == "POST":
        try:
            impact = remove_branch_commits(
                branch=branch,
                actor=request.user,
                stop_following=request.POST.get("stop_following") == "yes",
            )
        except Refusal as refusal:
            context["refusal"] = str(refusal)
        else:
            words = ngettext(
                "%(n)s commit of “%(branch)s” was deleted.",
                "%(n)s commits of “%(branch)s” were deleted.",
                impact.commits,
            )
            told = {"n": number(impact.commits), "branch": branch.name}
            messages.success(request, words % told)
            return redirect("repository", project.pk, repository.pk)
    context |= {
        "part": "repositories",
        "repository": repository,
        "branch": branch,
        "impact": preview_branch(branch),
    }
    status = 409 if "refusal" in context else 200
    return render(request, "collection/branch_remove.html", context, status=status)
