"""What operators do to workers: take a node out of service, and put it back."""

from django.db import transaction
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.jobs.models import Worker
from glossary_site.jobs.services import audit
from glossary_site.jobs.services.audit import Actor


def drain_node(node: str, *, actor: Actor, draining: bool = True) -> int:
    """A draining node finishes what it has in hand and takes nothing new; its keeper tells its
    processes within a second or two. How many processes it has."""
    with transaction.atomic():
        workers = list(Worker.objects.present().on_node(node).select_for_update())
        if not workers:
            raise Refusal(
                "no_such_node",
                _("No worker is running on the node “%(node)s”.") % {"node": node},
                status=404,
            )
        for worker in workers:
            if worker.draining != draining:
                before = {"draining": worker.draining}
                worker.draining = draining
                worker.save(update_fields=["draining"])
                action = "drain" if draining else "undrain"
                audit.record(actor, action, worker, before=before, after={"draining": draining})
    return len(workers)
