from datetime import timedelta

import pytest
from django.utils import timezone

from glossary_site.jobs.leader import Leadership
from glossary_site.jobs.models import LeaderLease, Worker

pytestmark = pytest.mark.django_db


def lapse() -> None:
    LeaderLease.objects.update(lease_until=timezone.now() - timedelta(seconds=1))


def test_the_first_to_come_leads_and_stays():
    one, two = Leadership("one"), Leadership("two")
    assert one.hold()
    assert not two.hold()
    assert one.hold()
    assert LeaderLease.objects.get().epoch == one.epoch == 1


def test_a_lapsed_lease_is_taken_over_with_the_next_epoch():
    one, two = Leadership("one"), Leadership("two")
    one.hold()
    lapse()
    assert two.hold()
    assert two.epoch == 2
    assert not one.hold()
    assert one.epoch == 0


def test_a_leader_that_was_late_but_not_replaced_goes_on_in_the_same_epoch():
    one = Leadership("one")
    one.hold()
    lapse()
    assert one.hold()
    assert one.epoch == 1


def test_nothing_a_past_leader_writes_lands():
    one, two = Leadership("one"), Leadership("two")
    one.hold()
    Worker.objects.create(name="w", node="n", role="short", host="h", pid=1)
    as_leader_one = Worker.objects.filter(one.condition())
    assert as_leader_one.update(pid=2) == 1
    lapse()
    assert Worker.objects.filter(one.condition()).update(pid=3) == 0
    two.hold()
    assert Worker.objects.filter(one.condition()).update(pid=3) == 0
    assert Worker.objects.filter(two.condition()).update(pid=4) == 1


def test_one_who_leaves_in_good_order_makes_room_at_once():
    one, two = Leadership("one"), Leadership("two")
    one.hold()
    one.release()
    assert two.hold()
    assert two.epoch == 2
