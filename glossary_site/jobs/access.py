"""Who may look at background work, and who may interfere with it. Ordinary permissions of Django:
an operator gives them to a person or a group in the administration; superusers have all."""

from django.contrib.auth.models import AnonymousUser

from glossary_site.people.models import User

Person = User | AnonymousUser


def may_watch(user: Person) -> bool:
    return user.is_active and user.has_perm("jobs.view_jobrun")


def may_operate(user: Person) -> bool:
    """Cancel and retry, drain workers, change definitions."""
    return user.is_active and user.has_perm("jobs.change_jobrun")
