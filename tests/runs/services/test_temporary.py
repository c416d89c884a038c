"""What a killed command leaves behind goes; what anybody uses stays."""

from datetime import timedelta

import pytest
from django.utils import timezone

from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.jobs.session import job_session
from glossary_site.live.models import Event
from projects.access import OPERATOR
from projects.models import Project
from projects.services.projects import create_project, update_project
from projects.services.terms import add_term
from runs.management.temporary import temporary_project
from runs.services.starting import start
from runs.services.temporary import remove_left_over, temporary_name
from tests.factories import make_document, make_project
from tests.projects.glossary.visiting import data, publish
from tests.runs.working import perform_job

pytestmark = pytest.mark.django_db(transaction=True)

LONG_AGO = timezone.now() - timedelta(days=1, hours=1)


@pytest.fixture
def killed() -> Project:
    """As a kill leaves it: with its documents, in the middle of a run."""
    project = create_project(name=temporary_name("docs"), actor=OPERATOR)
    make_document(project)
    start(project=project, scope="full", actor=OPERATOR)
    return project


def make_old() -> None:
    Project.objects.update(created_at=LONG_AGO)
    Event.objects.update(created_at=LONG_AGO)
    JobRun.objects.filter(lease_until__isnull=False).update(lease_until=LONG_AGO)


def test_a_day_later_it_goes_with_everything_in_it(killed):
    other = make_project("Harbour")
    assert remove_left_over() == 0
    make_old()
    assert perform_job(enqueue("runs.tidy")).result == {"projects": 1}
    assert list(Project.objects.all()) == [other]
    assert not JobRun.objects.active().for_scope(killed.stream).exists()


def test_the_next_command_removes_it_too(killed, tmp_path):
    make_old()
    with temporary_project(tmp_path, OPERATOR) as mine:
        assert list(Project.objects.all()) == [mine]


def test_one_that_is_being_worked_on_stays(killed):
    make_old()
    job = JobRun.objects.get(kind="runs.advance")
    with job_session(job.pk, worker="terminal:long:1") as session:
        assert session is not None
        Event.objects.update(created_at=LONG_AGO)
        assert remove_left_over() == 0


def test_one_in_which_something_happened_stays(killed):
    make_old()
    make_document(killed, "late.md")
    update_project(project=killed, actor=OPERATOR, language="ja")
    assert remove_left_over() == 0


@pytest.mark.parametrize("deed", ["rename", "term", "entry"])
def test_one_that_people_have_made_theirs_stays(killed, owner, deed):
    if deed == "rename":
        update_project(project=killed, actor=owner, name="Ours")
    elif deed == "term":
        add_term(project=killed, text="berth", actor=owner)
    else:
        publish(killed, owner, data("berth"))
    make_old()
    assert remove_left_over() == 0


def test_only_what_a_command_could_have_made():
    for name in (
        "Notes (runpipeline 12)",
        "(runpipeline 1a2b3c4d) docs",
        "x (runpipeline zz)",
    ):
        make_project(name)
    assert len(temporary_name("n" * 500)) <= 120
    make_old()
    assert remove_left_over() == 0
