from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _


class User(AbstractUser):
    """A person who signs in. Roles belong to projects, not to people."""

    # The first administrator's password is printed on a terminal; the site asks to change it.
    password_is_temporary = models.BooleanField(_("temporary password"), default=False)

    class Meta:
        verbose_name = _("user")
        verbose_name_plural = _("users")

    def get_full_name(self) -> str:
        """In Japanese the family name comes first."""
        names = [self.first_name, self.last_name]
        if get_language() == "ja":
            names.reverse()
        return " ".join(names).strip()


USERNAME_LENGTH = User._meta.get_field("username").max_length


class ApiToken(models.Model):
    """A personal key for programs. Only its hash is kept, so it can be shown just once."""

    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="api_tokens", verbose_name=_("user")
    )
    name = models.CharField(_("name"), max_length=100)
    # What a person recognises it by afterwards; too short to guess the rest from.
    prefix = models.CharField(_("beginning"), max_length=12)
    digest = models.CharField(_("digest"), max_length=64, unique=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        ordering = ("-created_at", "-pk")

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
