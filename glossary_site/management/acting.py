"""For whom a command acts: the operator of the machine, or a person named with `--as`."""

from argparse import ArgumentParser

from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.people.models import User


def add_actor_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--as",
        dest="username",
        metavar="USERNAME",
        help="act as this user, with this user's rights; without it, as the operator",
    )


def user_named(username: str) -> User:
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise Refusal(
            "no_such_user",
            _("There is no active user “%(name)s”.") % {"name": username},
            status=404,
        )
    return user
