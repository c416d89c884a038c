"""The prompts themselves: whole, versioned, in both languages, and with nothing to copy from."""

import hashlib
import json
import re
from pathlib import Path
from string import Template

import pytest

from glossary_site.llm.prompts import RULE
from runs.choices import IssueKind
from runs.pipeline import extract
from runs.pipeline.prompts import FOLDER, LANGUAGES, STEPS, path_of, prompt_for

# Every version that was ever used, with the digest of its file. A version is never used twice.
DIGESTS = json.loads((Path(__file__).parent / "prompt_digests.json").read_text())
EACH = [(step, language) for step in STEPS for language in LANGUAGES]


@pytest.mark.parametrize(("step", "language"), EACH)
def test_a_text_does_not_change_without_its_version(step, language):
    digest = hashlib.sha256(path_of(step, language).read_bytes()).hexdigest()
    version = prompt_for(step, language).version
    assert DIGESTS.get(version) == digest, f"Raise the version of {step}.{language}, and add it"


def test_there_is_a_file_for_each_step_and_language_and_no_other():
    assert {path.name for path in FOLDER.glob("*.txt")} == {
        f"{step}.{language}.txt" for step, language in EACH
    }


@pytest.mark.parametrize("step", STEPS)
def test_both_languages_have_the_same_parts_and_take_the_same_values(step):
    english, japanese = (prompt_for(step, language).parts for language in ("en", "ja"))
    assert list(english) == list(japanese)
    for name, part in english.items():
        assert set(part.get_identifiers()) == set(japanese[name].get_identifiers()), name


@pytest.mark.parametrize(("step", "language"), EACH)
def test_no_example_could_leak_into_an_answer(step, language):
    text = path_of(step, language).read_text()
    # Sample answers, sample terms in quotation marks, and the words that introduce them.
    assert not re.search(
        r"[{}\"“”「」『』`]|\be\.g\.|\bexamples?\b|\bsuch as\b|例|たとえば|など", text
    )


@pytest.mark.parametrize(("step", "language"), EACH)
def test_the_rule_about_documents_is_in_every_system_message(step, language):
    system, _user = prompt_for(step, language).parts["system"], None
    assert RULE in system.substitute(rule=RULE)


@pytest.mark.parametrize(("step", "language"), EACH)
def test_a_value_that_is_missing_is_an_error(step, language):
    prompt = prompt_for(step, language)
    assert prompt.parts["user"].get_identifiers()
    with pytest.raises(KeyError):
        prompt.messages()


def test_what_is_put_in_is_not_filled_again():
    prompt = prompt_for("review", "en")
    _, user = prompt.messages(entries="costs $5, $rule and ${terms}")
    assert "costs $5, $rule and ${terms}" in user["content"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_issue_and_every_category_is_explained(language):
    review = prompt_for("review", language).parts["system"].template
    for kind in IssueKind.values:
        assert f"- {kind}:" in review
    classes = prompt_for("extract", language).parts["user"].template
    for category in extract.CATEGORIES:
        assert f"\n{category}: " in classes


def test_the_version_names_step_number_and_language():
    assert re.fullmatch(r"generate/\d+:ja", prompt_for("generate", "ja").version)


def test_a_file_without_a_version_is_refused(tmp_path, monkeypatch):
    (tmp_path / "review.en.txt").write_text("[system]\nReview.\n")
    monkeypatch.setattr("runs.pipeline.prompts.FOLDER", tmp_path)
    with pytest.raises(ValueError, match="no version"):
        prompt_for.__wrapped__("review", "en")


def test_templates_are_plain():
    """`$` is for values only: a stray one would fail while a run is under way."""
    for step, language in EACH:
        for part in prompt_for(step, language).parts.values():
            assert isinstance(part, Template)
            assert part.is_valid()
