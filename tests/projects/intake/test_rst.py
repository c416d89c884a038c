import pytest

from projects.intake.convert.rst import convert
from projects.intake.convert.text import scrub


def markdown(source: str) -> str:
    return scrub(convert(source.encode()))


def test_structure():
    text = markdown(
        """:orphan:

Title
=====

Some *emphasis*, **strong**, ``literal`` and a `link <https://e.org>`_ [1]_.

.. [1] A note.

Part
----

1. one
2. two

term
   definition

.. code-block:: python
   :linenos:
   :caption: Example

   x = 1

====  ====
A     B
====  ====
1     2
====  ====
"""
    )
    assert text.startswith("# Title\n\nSome *emphasis*, **strong**, `literal` and a [link](")
    assert "[1] A note." in text
    assert "## Part\n\n1. one\n2. two\n" in text
    assert "term\n:   definition\n" in text
    assert "Example\n\n```python\nx = 1\n```" in text
    assert "| A | B |\n| --- | --- |\n| 1 | 2 |" in text
    assert "orphan" not in text


def test_a_glossary_becomes_definitions():
    text = markdown(
        """.. glossary::
   :sorted:

   API
   エーピーアイ
      An *interface*, see :term:`SDK`.

      Second paragraph.

   .. a comment

   SDK : kit
      A kit.
"""
    )
    assert text == (
        "API, エーピーアイ\n:   An *interface*, see [SDK](term:).\n\n    Second paragraph.\n\n"
        "SDK\n:   A kit.\n"
    )


def test_sphinx_roles_keep_their_text():
    text = markdown(
        "See :ref:`label`, :ref:`Title <label>`, :doc:`/guide`, :term:`用語`, "
        ":py:func:`~os.path.join`, :class:`!Thing`, :custom-role:`words` and |version|.\n"
    )
    assert text == (
        "See label, Title, /guide, [用語](term:), `join`, `Thing`, words and version.\n"
    )


def test_sphinx_directives_keep_their_text():
    text = markdown(
        """.. toctree::
   :caption: Contents
   :maxdepth: 2

   intro
   Guide <guide/index>

.. versionadded:: 3.5
   The *x* argument.

.. py:function:: spam(eggs, *, ham=1)

   Cooks.

.. class:: Kitchen(size)

   A room.

.. seealso:: The menu.

.. tab-item:: Linux
   :sync: x

   Unknown directives **too**.

.. only:: html

   For the web.
"""
    )
    assert "**Contents**\n\n- intro\n- Guide\n" in text
    assert "*Added in version 3.5*: The *x* argument." in text
    assert "`spam(eggs, *, ham=1)`\n:   Cooks." in text
    assert "`Kitchen(size)`\n:   A room." in text
    assert "> **See also**\n>\n> The menu." in text
    assert "Linux\n\nUnknown directives **too**." in text
    assert "For the web." in text


def test_notes_are_quoted():
    assert markdown(".. note:: Mind\n   the gap.\n") == "> **Note**\n>\n> Mind the gap.\n"


@pytest.mark.parametrize(
    "source",
    [
        ".. include:: {path}\n",
        ".. literalinclude:: {path}\n",
        ".. raw:: html\n   :file: {path}\n",
        ".. csv-table::\n   :file: {path}\n",
        ".. code-block:: {path}\n   :file: {path}\n\n   x\n",
    ],
)
def test_no_file_is_ever_read(tmp_path, source):
    secret = tmp_path / "secret.txt"
    secret.write_text("top secret words")
    assert "top secret" not in markdown(source.format(path=secret))


def test_raw_html_is_not_passed_on():
    text = markdown(".. raw:: html\n\n   <script>alert(1)</script>\n\nText\n")
    assert text == "Text\n"


@pytest.mark.parametrize(
    "source",
    [
        "Title\n===\n\n`unclosed and **open and |bar\n\nkept words\n",
        ".. note::\n   :nonsense: 1\n\n   kept words\n",
        "+----+\n| kept words\n+--\n",
        "A\n=\n\nB\n-----\n\nkept words\n\nC\n~~~~~\n\nD\n=====\n\nE\n~~~~~\n",
        "text\n    kept words\n  odd\n",
        ".. image::\n\n   kept words\n",
    ],
)
def test_mistakes_lose_no_text_and_leave_no_messages(source):
    text = markdown(source)
    assert "kept words" in text
    for noise in ("System Message", "ERROR", "WARNING", "Unknown", "problematic"):
        assert noise not in text


def test_japanese_lines_join_without_a_space():
    assert markdown("日本語の文章が\n二行に分かれる。\n") == "日本語の文章が二行に分かれる。\n"


def test_one_long_line_does_not_cost_the_document():
    assert "end" in markdown("word " * 4000 + "\n\nend\n")
