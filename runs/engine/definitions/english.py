"""English sentences that say what a term is.

Only a sentence whose subject is the term itself counts: at its beginning, with an article at most.
So "An X server is …" never defines X, nor does "This X is …".
"""

import re

from runs.engine.definitions.findings import Finding, adjusted
from runs.engine.definitions.spelling import MASK

QUOTE = "[\"“”'‘’]?"
LEAD = (
    r"(?:In (?!this|these|that|those|order|addition|fact|practice|the |most|many|some|such|our"
    r"|other|case|an? )[\w '/.\-]{2,40}, |(?:Basically|Simply put|In short|In other words"
    r"|In general|Formally|Technically|Conceptually|Essentially), )?"
)
ASIDE = (
    r"(?:\s*\([^()]{1,90}\))?"
    r"(?:,?\s+(?:or|also|sometimes|often|commonly|usually|formerly|previously)"
    r"(?:\s+(?:simply|just|known as|called|referred to as|abbreviated(?: as| to)?|written))+"
    r"\s+[^,;()]{2,60}?,?)?"
    r"(?:,\s(?!below|above|here|for example|for instance|(?:and|or|as|like|such|which|who)\b)"
    r"[^,]{3,50},)?"
)
ADVERBS = (
    r"(?:(?:basically|simply|essentially|just|usually|typically|generally|actually|really|often"
    r"|effectively|thus|therefore|primarily|mainly|then|in general|in essence|at its core|therefore"
    r"|conceptually|technically|nothing more than|nothing but|merely|traditionally|commonly),?\s+)*"
)
NOUN_GROUP = (
    r"(?:(?!(?:of|to|by|in|for|with|as|from|on|at|than|made|used|similar|about|into|per|like|just|so"
    r"|over|across|through|between|can|may|must|will|should|which|that|who|it|called|known|referred)"
    r"\b)[\w'’/\-]+[ ,]+(?:and |or )?){0,4}?"
)
# Plural nouns after "are" that go on to say which ones, or end there.
PLURAL = re.compile(
    rf"(?!{NOUN_GROUP}(?:not|always|never|available|required|able|likely)\b)"
    rf"(?![\w'\-]+(?:ed|ing|en|able|ible|ful|less|ous|al)\s)"
    r"(?!(?:\w+ly|further|also|then|first|best)\s+\w+(?:ed|en)\s+"
    r"(?:in|by|as|to|with|from|on|at|the|for|following|using|according)\b)"
    rf"{NOUN_GROUP}(?P<noun>[a-z\-]{{2,}}(?<![sui])s|sets of [\w\-]+|people|data|software|children)"
    r"(?=\s+(?:that|which|who|whose|used|of|for|with|in|from|to|designed|by|containing|where|on"
    r"|created|attached|stored|defined|made|provided|intended|describing|representing|within)\b"
    r"|[.,;]|$)"
)
MASS = re.compile(
    r"(?:(?!not\b|also\b|only\b|available\b|(?:in|on|by|as|to|from|with|of)\b)[\w\-]+\s+){0,3}?"
    r"(?P<noun>software|code|data|metadata|text|information|memory|storage|middleware|notation"
    r"|shorthand|syntax|hardware|free software|documentation)"
    r"\s+(?:that|which|for|used|of|to|in|with|written|about|designed|stored)\b"
)
GENUS = re.compile(
    r"(?P<a>an?\s)|(?P<the>the\s)|(?P<one>one of\s|any\s|some(?:thing|one)\s)"
    r"|(?P<short>short for|shorthand for|an? (?:abbreviation|acronym)|defined as(?! part))"
)
# Said of a thing, but not what it is.
OPINION = re.compile(
    r"an?\s+(?:\w+ly\s+|very\s+|quite\s+|rather\s+|much\s+|more\s+)*"
    r"(?:good|bad|great|nice|better|terrible|poor|wonderful|wondrous|tremendous|incredible|strong|vast|growing|special|safe|wise|sensible|reasonable|viable"
    r"|natural|obvious|popular|frequent|likely|big|huge|major|minor|tiny|significant|serious|real"
    r"|new|recent|useful|handy|powerful|convenient|helpful|valuable|important|crucial|critical|key"
    r"|vital|easy|simple|quick|common|typical|final|second|third|first|last|different|similar|known|normal"
    r"|essential|integral|[\w\-]*sensitive)\s+"
    r"(?:[\w\-]+\s+)?(?:idea|choice|option|practice|ways?|approach|mistake|problem|issue|things?|step"
    r"|start|place|example|reason|solution|candidate|alternative|change|source|cause|concern"
    r"|challenge|fit|point|question|time|deal|part|one|match|task|addition|case|situation|matter"
    r"|requirement|consideration|factor|pattern|scenario|improvement|topic|resource|quality|element"
    r"|aspect|enabler|role|term|experience|contender|field|design|(?:component|piece)(?=\s+(?:of|in)\b))\b"
    r"|an?\s+(?:\w+ly\s+|very\s+|quite\s+|rather\s+)*"
    r"(?:bit|little|lot|fun|must|matter|pain|given|prerequisites?|requirements?|work in progress"
    r"|mistake|problem|challenge|plus|mess|shame|pity|success|failure|win|result|consequence|sign"
    r"|symptom|trade-?off|possibility|no-op|required|mandatory|valid|invalid|deprecated|example"
    r"|good|instance of (?:this|the)|exceptions?|alternative|great|thing|complex|long|sure"
    r"|necessity|waste|priority|concern|risk|bug|bad|perfect|topic|subject|step in|fact"
    r"|new field|solution to (?:this|these|that|the)|overloaded|misnomer|loaded|generic term|no"
    r"|better|(?:stable|beta|alpha) feature|means(?=,| to an end))\b"
    r"|an?\s+(?:much\s+)?(?:less|more)\s+[^.;]{3,60}\bthan\b"
    r"|an?\s+[^.;,]{3,40} of sorts\b"
    r"|an?\s+(?:\w+ly\s+)?new\s+(?:implementation|version|rewrite|edition)\b"
    # A parameter and its values; a number that tells something is a measure.
    r"|an? (?:number|string|boolean|integer|float|list) (?:or null\b|(?:between|from)\b"
    r"(?!(?:[^.;]|\.\d)* (?:that|which) (?!sets|specif|controls|determines|configures|must|should)"
    r"[a-z]+))"
    r"|an?\s+(?:very\s+)?(?:simple|common|popular|useful|powerful|well-known|official|basic"
    r"|convenient)(?:(?:,| and)\s+\w+)?\s+"
    r"(?:technique|concept|method|tool|project|feature|operation)(?:[,.;]| and\b|(?<=tool) in\b)"
    r"|an?\s+(?:[\w\-]+\s+)?feature that is (?:only |not )?(?:available|enabled|disabled)\b"
)
POINTING = re.compile(
    r"the\s+(?:very\s+|absolute\s+|\w+\s+)?(?:same|case|top|classic|ultimate|go-to|best|worst|only|first|second|third|next|last"
    r"|final|right|wrong|correct|recommended|preferred|easiest|simplest|fastest|quickest|default"
    r"|following|other|one|ones|latter|former|reason|result|answer|problem|point|key|way|current"
    r"|latest|new|old|thing|output|responsibility|subject|topic|focus|exception|opposite|moment|time"
    r"|equivalent|case|difference|norm|ideal|perfect|number one|king|proper|job|user's|important)\b"
    r"|the (?:\w+ )?(?:most|least)\b|an? (?:[\w\-]+ ){1,4}one\b"
    r"|(?:one|any) of (?:these|those|them|our|your|my)\b"
    r"|one of the (?:most|best|few|main|things|reasons|ways|many|first|biggest|easiest|simplest"
    r"|fastest|quickest|greatest|nicest|cheapest|hardest|safest)\b"
    r"|any of the (?:above|following)|another\s+(?:way|option|example|reason|approach|thing|one)\b"
)
# A sentence that leans on what is around it says less alone.
DEICTIC = re.compile(
    r"\b(?:this|these|that) (?:example|case|section|chapter|page|tutorial|guide|document|book|step"
    r"|point|command|scenario|figure|table|file|release|version|list|feature|field|method|function"
    r"|option|setting|package)\b|\b(?:above|below|here|previous|previously|preceding|earlier"
    r"|aforementioned|as shown|see|any such|latter|former|in question|at the moment)\b"
    r"|\b(?:we|our|us|your|you've|I|my)\b",
)
# What "these" are was said before the sentence, or in it.
THESE = re.compile(r"\bthese (?:[a-z\-]+ )??(?P<noun>[a-z\-]+)")
EXAMPLE = re.compile(r"\b(?:for example|for instance|e\.g\.|such as this)\b", re.IGNORECASE)
TITLED_VERBS = (
    r"(?:lets?|allows?|enables?|provides?|manages?|ensures?|gives?|holds?|stores?|defines?|describes?"
    r"|specif(?:y|ies)|controls?|acts? as|serves? as|works? as|helps?|consists? of"
    r"|combines?|maps?|groups?|exposes?|handles?|performs?|implements?|offers?|keeps?|tracks?"
    r"|monitors?|connects?|converts?|determines?|extends?|automates?|watch(?:es)?|maintains?"
    r"|represents?|makes? it possible|(?:is|are) (?:used|responsible|designed|intended|made"
    r"|composed|meant|concerned)|can be used)"
)
# "A line between two parties (X) is …" is said of the line.
LONG_FORM = (
    r"(?![\w\-–/&'’ ]{0,60}\b(?:between|from|with|by|that|which|when|if|is|are|was)\b)"
    r"[\w\-–/&'’ ]{4,60}"
)
START = (
    rf"{LEAD}(?:(?P<article>an?|the)\s+)?(?:(?:term|word|concept of|name)\s+)?"
    # Or in brackets behind its long form.
    rf"(?:{QUOTE}{MASK}{QUOTE}|{LONG_FORM} \({MASK}\)){ASIDE}"
)
BE = re.compile(
    rf"{START}\s+(?P<be>is|are|was|were)\s+(?P<also>also\s+)?{ADVERBS}(?P<rest>.+)", re.I
)
MEANS = re.compile(
    rf"{START}\s+(?:(?:generally|usually|typically|simply)\s+)?(?P<verb>"
    r"refers? to(?! (?:it|them|this|that|these|those)\b)"
    r"|means?(?! to\b| of\b| that (?:it|this|they|you|we)\b| you\b| we\b| it\b| there\b)"
    r"|denotes?|stands? for"
    r"|represents? (?:an?|the|one|some)\b|(?:is|are) (?:defined as|understood as))\s+\S+",
    re.I,
)
DOES = re.compile(rf"{START}\s+{ADVERBS}{TITLED_VERBS}\s+\S+", re.I)
NAMING = r"(?:called|known as|referred to as|termed|named)"
NAMED = rf"(?:simply |just )?(?:an?\s+|the\s+)?{QUOTE}{MASK}{QUOTE}"
POINTS_BACK = re.compile(
    r"\b(?:this|these|those|above|previous|remaining|resulting)\b|\b(?:it|they) $", re.I
)
CALLED = re.compile(
    r"(?<!that )(?<!which )\b(?:(?P<be>is|are)|also|often|commonly)\s+"
    r"(?:\w+ly\s+|also\s+|often\s+|sometimes\s+)?"
    rf"{NAMING}\s+{NAMED}(?=\s*[.,;(]|$)",
    re.I,
)
# "A packet is called X" says no more than its name; what sets it apart comes with one of these.
APART = re.compile(
    r"\b(?:of|that|which|who|whose|where|when|used|made|with|without|for|by|in|to|from|on|at|between"
    r"|containing|using|within)\b"
)
# "Y, also known as X, is a …"
GOES_ON = re.compile(r"\s*(?:\([^()]*\))?,?\s+(?:is|are)\s+(?:an?|the)\s")
THIS_IS_CALLED = re.compile(
    r"(?:This|These|It|They|That)(?:\s+\w+){0,3}?\s+(?:is|are)\s+(?:\w+\s+)?"
    rf"{NAMING}\s+{NAMED}\s*(?:\([^()]*\))?\s*[.,;]",
    re.I,
)
# Leans on the sentence before it, so it cannot be a definition alone.
LEANS = re.compile(
    r"(?:this|these|those|that|it|they|he|she|however|and|but|so|then|for example|for instance|next"
    r"|here|instead|also|again|finally|first|second|thus|therefore|note|otherwise|yes|no)\b",
    re.I,
)
# Tells the reader what to do.
ORDER = re.compile(
    r"(?:(?:in|on|from|to|for|once|when|if|after) [^,]*, )?(?:(?:then|now|simply) )?"
    r"(?:define|select|choose|click|set|use|enter|add|create|open|run|make|specify|check|go|submit|press"
    r"|type|install|configure|it is time)\b",
    re.I,
)
# What has to be so, as specifications say it.
NORMATIVE = re.compile(r"\b(?:MUST|SHALL|SHOULD)\b")
# "X is a text format, so …" is said for what follows from it, "…, because …" for its reason.
CONSEQUENCE = re.compile(
    r"(?:[\w\-]+\s+){1,4}[\w\-]+,? (?:so (?!that\b|as to\b)|because\b|since\b"
    r"|and (?:we|you|I|for (?:most|many|some))\b)"
)
THEREFORE = re.compile(r", so (?:it|they|we|you)\b")
# Below a heading, "this" may be the text itself.
OF_TEXT = re.compile(
    r"an?\s+(?:[\w\-]+\s+)?(?:list|guide|guideline|overview|summary|collection|page|document|tutorial"
    r"|section|reference|introduction|glossary|draft|work in progress)\b"
)
SHORTEST, LONGEST = 5, 55
LITTLE = 8
LONGEST_PHRASE = 30
CIRCULAR = 16
SAME = re.compile(rf"(?:an?|the)\s+(?:[\w\-]+\s+)?{MASK}(?!\w)", re.I)
BARE = re.compile(r"an?(?:\s+(?!(?:of|for|that|by|to|from|with|in|on)\s)[\w\-]+){1,4}\W*$")
FOLLOWING = re.compile(r"\b(?:the|these|as) follow(?:ing|s)\b|:$", re.I)
QUESTION = re.compile(r"[?!][\"'”’)]*$")
NEGATION = re.compile(r"(?:not|never|no longer|n't|hardly|neither|nor)\b")
PRONOUN = re.compile(r"(?:It|This|They|These)\s+(?:is|are)\s+" + ADVERBS + r"(?P<rest>an?\s.+)")
NOUN_PHRASE = re.compile(
    r"(?:An?\s)(?!\w+'s|(?:\w+ )?(?:term|word|name|good|great|new|list|note|common) )"
    r"(?P<group>(?:[\w\-/]+\s+){1,5}?)"
    r"(?P<joint>that|which|who|whose|for|of|to|used|containing|where|in|with|from|by|designed)\b"
)
FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|will|would|must|should|may|might|does|do|did"
    r"|[a-z]+(?<![sui'])s)\b"
)
# One that belongs to no clause: then the words before it were a subject, not a definition.
MAIN_VERB = re.compile(
    r"(?<!\bthat )(?<!\bwhich )(?<!\bwho )(?<!\bwhose )(?<!\bit )(?<!\bthey )(?<!\band )(?<!\byou )"
    r"(?<!\bor )\b(?:is|are|was|were|has|have|should|must|will|would|can|could|may|might"
    r"|does|do)\b"
)
# "… in Colombia publishes a notice": somebody does something.
ACTS = re.compile(r"(?:in|of|for|with|from|by)\s+(?:[\w\-]+\s+){1,3}?[a-z]+(?<![sui])s\s+an?\s")


def judged(sentence: str, *, is_titled: bool = False) -> Finding | None:
    """What a plain sentence, in which the term is masked, says of it; `is_titled`: it is the first
    one below a heading that names the term."""
    words = len(sentence.split())
    if words < SHORTEST or QUESTION.search(sentence) or FOLLOWING.search(sentence):
        return None
    finding = _by_verb(sentence, is_titled=is_titled) or _called(sentence)
    if finding is None and is_titled:
        finding = _untold(sentence)
    if finding is None:
        return None
    change = 0.0
    if is_titled:
        change += 0.1
    if DEICTIC.search(sentence):
        change -= 0.12
    these = THESE.search(sentence)
    if these and these["noun"] not in sentence[: these.start()]:
        change -= 0.2
    if EXAMPLE.search(sentence[:40]):
        change -= 0.3
    if NORMATIVE.search(sentence):
        change -= 0.36
    if words > LONGEST:
        change -= 0.15
    return adjusted(finding, change)


def calls(sentence: str) -> bool:
    """Whether it names what the sentence before it says: "This is called X."."""
    return THIS_IS_CALLED.match(sentence) is not None


def _by_verb(sentence: str, *, is_titled: bool) -> Finding | None:
    if found := BE.match(sentence):
        return _what_it_is(found)
    if found := MEANS.match(sentence):
        is_loose = found["verb"].lower().startswith("represent") or " means that " in sentence
        score = 0.7 if is_loose else 0.84
        if THEREFORE.search(sentence):
            score -= 0.3
        return Finding(score, "means")
    if is_titled and DOES.match(sentence):
        return Finding(0.66, "heading")
    return None


def _what_it_is(found: re.Match[str]) -> Finding | None:
    rest = found["rest"]
    is_past = found["be"] in ("was", "were")
    if NEGATION.match(rest) or OPINION.match(rest) or POINTING.match(rest):
        return None
    genus = GENUS.match(rest)
    if genus is None:
        if is_past:
            return None
        if found["also"]:
            return None
        if found["be"] == "are" and PLURAL.match(rest):
            return Finding(0.74, "is")
        if MASS.match(rest):
            return Finding(0.7, "is")
        return None
    if len(rest.split()) < 3:
        return None
    score = {"a": 0.88, "the": 0.74, "one": 0.7, "short": 0.84}[str(genus.lastgroup)]
    # "The server is a …" may speak of one server.
    if (found["article"] or "").lower() == "the":
        score -= 0.1 if genus.lastgroup != "a" else 0.06
    if is_past:
        score -= 0.24
    if found["also"]:
        score -= 0.3
    # "An icon is an icon that …"
    if MASK in rest[:CIRCULAR]:
        score -= 0.4 if SAME.match(rest) else 0.2
    # "X is a resource in the API": true, and little; "X is a growing community": less.
    if len(rest.split()) < LITTLE:
        score -= 0.24 if BARE.match(rest) else 0.08
    if CONSEQUENCE.match(rest):
        score -= 0.3
    return Finding(score, "is")


def _called(sentence: str) -> Finding | None:
    found = CALLED.search(sentence)
    if found is None or THIS_IS_CALLED.match(sentence):
        return None
    before = sentence[: found.start()]
    if NEGATION.search(before[-12:]) or POINTS_BACK.search(before) or MAIN_VERB.search(before):
        return None
    if found["be"]:
        is_said = len(before.split()) >= 4 and APART.search(before) is not None
    else:
        is_said = GOES_ON.match(sentence, found.end()) is not None
    return Finding(0.66, "called") if is_said else None


def _untold(sentence: str) -> Finding | None:
    """Below its heading, a term need not be named again."""
    if found := PRONOUN.match(sentence):
        rest = found["rest"]
        if OPINION.match(rest) or POINTING.match(rest) or OF_TEXT.match(rest):
            return None
        if MASK in rest[:CIRCULAR]:
            return None
        return Finding(0.64, "heading")
    # "A naming scheme for brokers …" is about something else.
    phrase = None if MASK in sentence else NOUN_PHRASE.match(sentence)
    if phrase and len(sentence.split()) <= LONGEST_PHRASE and not FINITE.search(phrase["group"]):
        rest = sentence[phrase.end() - len(phrase["joint"]) :]
        if not (MAIN_VERB.search(rest) or ACTS.match(rest)):
            return Finding(0.64, "heading")
    return None
