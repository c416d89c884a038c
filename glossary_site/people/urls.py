from django.contrib.auth.views import LogoutView
from django.urls import path

from glossary_site.people import views

urlpatterns = [
    path("", views.account, name="account"),
    path("sign-in/", views.SignIn.as_view(), name="sign-in"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("password/", views.PasswordChange.as_view(), name="password-change"),
    path("tokens/", views.token_create, name="token-create"),
    path("tokens/<int:token_id>/revoke/", views.token_revoke, name="token-revoke"),
]
