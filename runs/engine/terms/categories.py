"""What kind of thing a candidate names, as far as its words tell."""

import re

from projects.choices import Category
from runs.engine.terms.frequencies import commonness
from runs.engine.terms.gathering import Found
from runs.engine.terms.phrases import NAMES, Sort

_ORGANISATION = re.compile(
    r"(?:株式会社|有限会社|合同会社|財団|社団|法人|協会|学会|組合|連盟|連合会|委員会|協議会|大学|銀行|省|庁|研究所|電力|新聞社)$"
    r"|^(?:株式会社|有限会社|合同会社)"
    r"|\b(?:Inc|Ltd|LLC|GmbH|Corp|Corporation|Company|Foundation|Association|Institute|University|"
    r"Agency|Ministry|Committee|Consortium|Cooperative|Council|Society|Bank|Group)\.?$"
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
    is_name = bool(NAMES & set(sorts)) and (candidate.language == "ja" or _is_named(candidate))
    if is_name and _ORGANISATION.search(text):
        return Category.ORGANIZATION
    if all(sort is Sort.PERSON for sort in sorts) and candidate.language == "ja":
        return Category.PERSON_NAME
    if is_name and (_PLACE.search(text) or all(sort is Sort.PLACE for sort in sorts)):
        return Category.PLACE_NAME
    if is_name and len(sorts) > 1 and _TITLE.search(text):
        return Category.TITLE
    if is_common(candidate, weirdness=weirdness, is_marked=is_marked):
        return Category.COMMON_NOUN
    return Category.TECHNICAL_TERM


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
