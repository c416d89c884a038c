"""What kind of thing a candidate names, as far as its words tell."""

import re

from projects.choices import Category
from runs.engine.terms.contexts import COMPANY, SOMEBODY
from runs.engine.terms.frequencies import commonness
from runs.engine.terms.gathering import Found
from runs.engine.terms.names import GIVEN_NAMES, PLACES
from runs.engine.terms.phrases import NAMES, Sort

_ORGANISATION = re.compile(
    r"(?:株式会社|有限会社|合同会社|財団|社団|法人|協会|学会|組合|連盟|連合会|委員会|協議会|大学|銀行|省|庁|研究所|電力|新聞社)$"
    r"|^(?:株式会社|有限会社|合同会社)"
    r"|\b(?:Inc|Ltd|LLC|GmbH|Corp|Corporation|Company|Foundation|Association|Institute|University|"
    r"Agency|Ministry|Committee|Consortium|Cooperative|Council|Society|Bank|Working Group)\.?$"
)
_PLACE = re.compile(
    r"(?:都|府|県|市|区|町|村|島|半島|海峡|瀬戸|湾|港|川|山|岬|湖|海)$"
    r"|\b(?:Island|Islands|City|County|River|Lake|Bay|Strait|Mountain|Street|Harbour|Harbor|Port|"
    r"Peninsula|Valley)$"
)
_TITLE = re.compile(
    r"(?:規程|規則|規定|規格|法|条例|要領|指針|手引き?|マニュアル|ハンドブック|仕様書|報告書|白書|憲章)$"
    r"|\b(?:Act|Handbook|Manual|Guide|Regulation|Directive|Agreement|Charter|Report|Standard)$"
)
_ACRONYM = re.compile(r"[A-Z][A-Z0-9/&.-]{1,9}")
# From here on a word is everybody's: "system", "問題". One that is in a text this much more often
# than elsewhere is a term of its own there all the same.
_COMMON = {"en": 4.3, "ja": 4.4}
_VERY_COMMON = {"en": 5.1, "ja": 5.2}
_MOST_WEIRD = 1.6


def category_of(text: str, candidate: Found, *, weirdness: float, is_marked: bool) -> str:
    sorts = [word.sort for word in candidate.words]
    has_names = bool(NAMES & set(sorts))
    # Whose name only ever begins sentences, or follows "Dr.", is not known by its first capital.
    if has_names and (_is_often(candidate, SOMEBODY) or _is_person(candidate)):
        return Category.PERSON_NAME
    is_name = has_names and (candidate.language == "ja" or _is_named(candidate))
    if is_name and (_ORGANISATION.search(text) or _is_often(candidate, COMPANY)):
        return Category.ORGANIZATION
    if is_name and _is_place(text, sorts):
        return Category.PLACE_NAME
    if is_name and len(sorts) > 1 and _TITLE.search(text):
        return Category.TITLE
    if is_common(candidate, weirdness=weirdness, is_marked=is_marked):
        return Category.COMMON_NOUN
    return Category.TECHNICAL_TERM


# So many of its occurrences are enough: a title or a form of address is not repeated each time.
_OFTEN = 0.2
_NAMES_OF_A_PERSON = range(2, 4)
# A surname is rarer than this, or it is a word: "Peter Problem".
_COMMON_SURNAME = 4.8


def _is_often(candidate: Found, mark: str) -> bool:
    return candidate.marks[mark] >= max(_OFTEN * candidate.count, 1)


def _is_person(candidate: Found) -> bool:
    """Known to the dictionary as one, or with a given name before a rarer one."""
    sorts = {word.sort for word in candidate.words}
    if sorts == {Sort.PERSON}:
        return True
    first, last = (candidate.words[place].surface.strip() for place in (0, -1))
    return (
        len(candidate.words) in _NAMES_OF_A_PERSON
        and sorts == {Sort.NAME}
        and first.lower() in GIVEN_NAMES
        and last == last.capitalize()
        and commonness(last, "en") < _COMMON_SURNAME
    )


def _is_place(text: str, sorts: list[Sort]) -> bool:
    return (
        _PLACE.search(text) is not None
        or text.lower() in PLACES
        or all(sort is Sort.PLACE for sort in sorts)
    )


def is_common(candidate: Found, *, weirdness: float, is_marked: bool) -> bool:
    if len(candidate.words) > 1 or is_marked:
        return False
    word = candidate.words[0]
    if word.sort in NAMES and _ACRONYM.fullmatch(word.surface):
        return False
    if candidate.language == "en" and _is_named(candidate):
        return False
    common = commonness(word.surface, candidate.language)
    if common >= _VERY_COMMON[candidate.language]:
        return True
    return common >= _COMMON[candidate.language] and weirdness < _MOST_WEIRD


_MOSTLY = 0.8


def _is_named(candidate: Found) -> bool:
    """Written with a capital where small letters would do."""
    return candidate.with_case > 0 and candidate.capitals / candidate.with_case >= _MOSTLY
