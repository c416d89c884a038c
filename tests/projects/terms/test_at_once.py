"""Several people at the same moment."""

import threading

import pytest
from django.db import connection

from glossary_site.errors import Refusal
from projects.access import OPERATOR
from projects.choices import TermStatus
from projects.models import (
    Term,
)
from projects.services.terms import (
    add_term,
    set_status,
)
from tests.projects.terms.scene import extract, found


class TestAtOnce:
    @pytest.mark.django_db(transaction=True)
    def test_many_who_add_one_term_make_one(self, project):
        spellings = ["data set", "dataset", "Data-Set", "DATASETS", "data sets", "Dataset"]
        start = threading.Barrier(len(spellings))
        made, refused = [], []

        def add(text):
            start.wait()
            try:
                made.append(add_term(project=project, text=text, actor=OPERATOR).pk)
            except Refusal as refusal:
                refused.append(refusal.details["term_id"])
            finally:
                connection.close()

        threads = [threading.Thread(target=add, args=[text]) for text in spellings]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) == 1
        assert refused == made * (len(spellings) - 1)
        assert Term.objects.count() == 1

    @pytest.mark.django_db(transaction=True)
    def test_an_extraction_beside_people_loses_nothing_they_say(self, project):
        texts = [f"term {number}" for number in range(40)]
        extract(project, *texts)
        ids = list(Term.objects.order_by("pk").values_list("pk", flat=True))
        start = threading.Barrier(2)

        def choose():
            start.wait()
            try:
                for pk in ids[:20]:
                    set_status(project=project, ids=[pk], status="excluded", actor=OPERATOR)
            finally:
                connection.close()

        def read_again():
            start.wait()
            try:
                for score in range(5):
                    extract(project, *(found(text, score=float(score)) for text in texts))
            finally:
                connection.close()

        threads = [threading.Thread(target=choose), threading.Thread(target=read_again)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        excluded = Term.objects.filter(status=TermStatus.EXCLUDED).values_list("pk", flat=True)
        assert set(excluded) == set(ids[:20])
        assert set(Term.objects.values_list("score", flat=True)) == {4.0}
