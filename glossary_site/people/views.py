"""Sign in, change the password, and the account with its API tokens."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from glossary_site.people.forms import SignInForm, TokenForm
from glossary_site.people.models import User
from glossary_site.people.services import create_token, password_was_changed, revoke_token


class SignIn(LoginView):
    template_name = "people/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True


def locked_out(
    request: HttpRequest, credentials: dict[str, Any] | None = None, *args: Any, **kwargs: Any
) -> HttpResponse:
    """Too many wrong passwords. The answer is the same whether or not the user exists."""
    return render(request, "people/locked_out.html", status=429)


class PasswordChange(PasswordChangeView):
    template_name = "people/password_change.html"
    success_url = reverse_lazy("account")

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        response = super().form_valid(form)
        password_was_changed(user=_person(self.request))
        messages.success(self.request, _("Your password is changed."))
        return response


@require_safe
def account(request: HttpRequest) -> HttpResponse:
    return _account_page(request, TokenForm())


# The answer holds the secret: no cache and no back button may bring it up again.
@never_cache
@require_POST
def token_create(request: HttpRequest) -> HttpResponse:
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _account_page(request, form, status=422)
    token, secret = create_token(user=_person(request), name=form.cleaned_data["name"])
    return _account_page(request, TokenForm(), made=token, secret=secret)


@require_POST
def token_revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    if revoke_token(user=_person(request), token_id=token_id):
        messages.success(request, _("The token is revoked. Programs that used it are refused."))
    else:
        messages.info(request, _("This token was already gone."))
    return redirect("account")


def _account_page(
    request: HttpRequest, form: TokenForm, *, status: int = 200, **context: Any
) -> HttpResponse:
    context |= {"form": form, "tokens": _person(request).api_tokens.all()}
    return render(request, "people/account.html", context, status=status)


def _person(request: HttpRequest) -> User:
    # SignInFirstMiddleware lets nobody else reach these views.
    assert isinstance(request.user, User)
    return request.user
