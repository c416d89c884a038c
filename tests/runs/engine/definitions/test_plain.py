"""A passage in the words that a reader of the page sees."""

import pytest

from runs.engine.definitions.plain import plain


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("A **berth** is _a place_ for `ships`.", "A berth is a place for ships."),
        # Code is as it is written.
        ("`<KeepAlive>` は状態を保ちます。", "<KeepAlive> は状態を保ちます。"),
        ("Use ``<converter:name>`` there.", "Use <converter:name> there."),
        ("It is `__name__` or `a*b*c`.", "It is __name__ or a*b*c."),
        ("**`X-Forwarded-*`** is set.", "X-Forwarded-* is set."),
        ("[`<Link>`](link.md) goes on.", "<Link> goes on."),
        ("A <b>tag</b> is one &amp; gone.", "A tag is one & gone."),
        ("一つ目<br>二つ目 and one<br/>two", "一つ目二つ目 and one two"),
        ("It is `&amp;` there.", "It is &amp; there."),
        # Pictures say nothing.
        ("![A level meter with the gain set](meter.png)", ""),
        ("Stay [![build](x.svg)](ci.md) here.", "Stay here."),
        ("See ![icon][1] the quay.", "See the quay."),
        # Links.
        ("A light [WSGI] framework.", "A light WSGI framework."),
        ("A light [WSGI][pep] framework.", "A light WSGI framework."),
        ("An index a[I] and a box [X].", "An index a[I] and a box [X]."),
        # Roles, looks and marks.
        ("A {term}`berth <ship>` and {ref}`quay`.", "A berth and quay."),
        ("It is old {cite:p}`Owen2012`.", "It is old ."),
        ("The `depth_{pair}` and `s` of it.", "The depth_{pair} and s of it."),
        ("A :material-ferry: **ferry**{ .teal } sails.", "A ferry sails."),
        ("==A berth is a place==, if `a == b`.", "A berth is a place, if a == b."),
        # What is only for translators and line breaks.
        ("The [!DNL Web SDK] sends [!UICONTROL Data].", "The Web SDK sends Data."),
        ("データ\u200b統合", "データ統合"),
        # Signs that stand for something here, in a text of somebody who knows.
        ("Out \ue0f07\ue0f1 of *range*.", "Out of range."),
    ],
)
def test_words(raw: str, words: str) -> None:
    assert plain(raw) == words
