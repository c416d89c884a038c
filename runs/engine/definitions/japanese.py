"""Japanese sentences that say what a term is.

「Xとは」 and 「Xは…である」 at the beginning of a sentence; 「…をXと呼ぶ」 at its end. One in
「ます」 tells what a thing does: that counts right below a heading that names it, and nowhere else.
"""

import re

from runs.engine.definitions.findings import Finding, adjusted
from runs.engine.definitions.spelling import KANJI, KATAKANA, MASK

OPEN, CLOSE = "[「『“\"'〝【]?", "[」』”\"'〟】]?"
PAREN = r"(?:\s?[（(][^（）()]{1,80}[）)])?"
LEAD = (
    r"(?:(?:なお|また|つまり|すなわち|ここで|ここでは|一般に|一般的に|本来|簡単に言うと|要するに)、?\s?"
    r"|[^、。はが]{2,28}(?:では|において|における|の分野で|の世界で|の文脈で)(?:は)?、?\s?)?"
)
# After とは: not a definition, but a comparison, a doubt or a question.
NOT_TOWA = (
    r"(?!異な|違|別|無関係|関係|限|いえ|言え|思|なら|なり|言い|いい|呼|逆|対照|独立|似|比べ|比較|考え|何"
    r"|なに|なん|こんな|こういう|このような|どの|どう|どんな|いった|言った|反対|裏腹|一線|少し|全く|まったく|うまく|互換|直接|\s?[？?|｜])"
)
COPULA = re.compile(r"(?:である|であり|です|だ|であって|でして)$")
ENDING = re.compile(r"[。．.！!\s]+$|[（(][^（）()]*[）)]$")
MEANS = re.compile(
    r"(?:を(?:指|さ)(?:す|します|している|しています)|を(?:い|言)(?:う|います)|を意味(?:する|します|しています)"
    r"|を表(?:す|します|しています)|のこと(?:です|である|だ|をいう|を言う|を指す|をいいます|を指します)?"
    r"|と定義(?:される|されます|されている|されています)|の(?:総称|頭字語|略称?|略語|略記|別名|通称|一種)"
    r"(?:です|である|だ)?)$"
)
# What things are: a sentence that ends in one of these names its class.
CLASS = re.compile(
    r"(?:もの|こと|仕組み|しくみ|仕掛け|機能|方法|手法|技術|概念|単位|役割|状態|仕事|作業|装置|設備|機器|機械"
    r"|ツール|プログラム|コマンド|ソフトウェア|ソフト|システム|サービス|プロセス|オブジェクト|リソース"
    r"|コンポーネント|ファイル|集合|集まり|集合体|グループ|名前|名称|呼び名|値|割合|比率|時間|期間|時刻|場所|地点|人"
    r"|部分|部品|一つ|1つ|ひとつ|１つ|形式|規格|標準|プロトコル|言語|環境|領域|区間|コード|データ|ライブラリー?"
    r"|フレームワーク|API|要素|属性|種類|手順|操作|処理|関数|変数|文書|表|組織|団体|会社|企業|施設|建物|制度|規則|ルール"
    r"|原則|考え方|行為|現象|性質|能力|量|(?<![強有無協努])力|速度|距離|電圧|電流|配列|型|式|構造|構成|モデル|パッケージ|サーバー?"
    r"|クライアント|デーモン|カーネル|ディレクトリー?|リポジトリー?|フォーマット|アルゴリズム|識別子|文字列|記号"
    r"|インターフェース|インターフェイス|インタフェース|エージェント|ドライバー?|モジュール|プラグイン|アプリケーション"
    r"|プラットフォーム|ユニット|ペア|マーカー|診断|組|メタデータ|ディストリビューション|プロジェクト|メカニズム|エンジン|マネージャー?|コントローラー?|コンテナー?"
    r"|ボリューム|ネットワーク|リスト|セット|マシン|ノード|ユーティリティー?|エディター?|シェル|メソッド|クラス|構文|文法"
    r"|宣言|命令|手段|媒体|機構|分野|学問|病気|疾患|植物|動物|物質|薬|成分|書類|契約|権利|義務|法律|資格|指標|基準|尺度"
    r"|役職|職|担当者|責任者|プロセッサー?|フィールド|キー|トークン|証明書|仕様|製品|商品|ソリューション|抽象化|拡張"
    r"|メカニズム|パターン|スクリプト|テンプレート|イメージ|設定|ポリシー|レイヤー|層|タスク|ジョブ|区画|区域|港|船|水路)"
    r"(?:群|名|一覧)?$"
)
# Or any noun, with a clause that sets it apart: 「発行会社が行う支払いの取り消し」.
KIND = re.compile(
    rf"(?:(?<!によ)(?<!にお)(?<!\bあ)る|[{KANJI}][うぐすつぶむ]|[働書置動導続開除付届引]く)(?:ための)?"
    rf"(?P<noun>(?:[{KANJI}{KATAKANA}A-Za-z0-9]++(?:[いきしちびみりえけせてべめれ](?=[{KANJI}の]|$))?"
    r"|(?<!^)の(?!$)){1,8})$"
)
# A noun with what sets it apart; 「共通」 and 「磁石内蔵」 have nothing.
SET_APART = re.compile(
    rf"[うくぐすつぶむるただいな]\s?[（(]?[{KANJI}{KATAKANA}A-Za-z0-9「][^、。]*$|の\s?[^、。ぁ-ん]{{2,}}$"
)
# What may come of a thing, or was done to it.
NOT_KIND = re.compile(
    r"(?:性|傾向|恐れ|見込み|見通し|方針|計画|課題|場面|点|側|際|度|箇所|変更|削除|追加|修正|対応|改善|不具合|エラー"
    r"|障害|バグ|リスク|影響|効果|メリット|デメリット|利点|欠点|機会|頃|形|流れ|前後|(?<!の)数)$"
)
# Before the copula: how a thing is or stands, not what it is.
NOT_NOUN = re.compile(
    r"(?:(?<!も)の|のみ|不変|可変|未定義|いずれか|どちらか|ん|わけ|ため|から|必要|可能|重要|便利|有効|有用|簡単|不要|同じ|後|(?<!名)前|とおり|通り|場合|予定|はず|べき|そう"
    r"|よう|ほう|の方|無効|困難|危険|安全|十分|不可能|必須|的|適切|最適|残念|大切|不可欠|大変|好き|嫌い|自由|任意|明らか|確か|別"
    r"|逆|最後|最初|次|例外|例|一例|良い|よい|いい|ない|多い|少ない|難しい|やすい|にくい|たい|らしい|みたい|だけ|ほど"
    r"|まで|くらい|ぐらい|以上|以下(?![「、])|未満|正常|異常|排他|(?<!集)中|がち|とき|時|場合|％|%|問題|理由|原因|責任|結果|目的|ポイント|コツ|おすすめ"
    r"|お勧め|推奨|前提|基本|普通|通常|同様|同等|当然|間違い|誤り|様子|途中|寸前|既定|デフォルト|不明|互換|楽|容易|単純"
    r"|複雑|柔軟|[低高大小強弱長短早速遅軽重近遠深浅広狭](?:き|さ)?い|様々|さまざま|退屈|豊富|強力|高速|低速|正確|完全|不完全|一般|特別|独立|一緒|無料|有料|無理|無駄|有名|人気|一番|最大|最小|最新"
    r"|対象外|対象|向け|専用|固有|サイズ|大きさ|[\"”」』]|限り|あまり|次第|まま|つもり|ところ|感じ|一部|みなさん|あなた|こちら|以外|非推奨|廃止|済み"
    r"|[0-9０-９][^ぁ-んァ-ヶ一-龠]{0,8}|[一二三四五六七八九十百千万]+(?:つ|人|台|回|個|枚|本|件|時間|分|秒|年|月|日)"
    r"|[0-9０-９]+\s?(?:つ|人|台|回|個|枚|本|件|時間|分|秒|年|月|日|度|割|行|桁|文字))$"
)
NEGATIVE = re.compile(r"(?:ない|ません|なかった|ませんでした|なく)$|ではな(?:い|く)|ではありません")
QUESTION = re.compile(r"[？?]|(?:ます|です|る)[:：]|(?:か|かな|でしょうか|だろうか|ですか|ますか)$")
ORDER = re.compile(
    r"(?:ください|下さい|ましょう|なさい|べきです|べきである|しよう|必要があ(?:る|ります)|とすること"
    r"|(?:必須|任意|対象|前提|原則)とする|(?:参照|確認|使用|利用|注意|留意|遵守|継承)すること"
    r"|ないこと|参照のこと|ことを(?:強く)?(?:お勧め|お薦め|おすすめ|推奨)(?:する|します|いたします)"
    r"|(?:のみ|だけ|必ず)[^、]{0,12}こと)$"
)
# What has to be so, as translations of specifications say it.
NORMATIVE = re.compile(r"[(（](?:MUST|SHALL|SHOULD)\b")
LISTED = re.compile(
    r"(?:次|以下(?![「、])|下記)の(?:よう|とおり|通り|もの|こと|\s?[0-9０-９一二三四五六七八九十]+\s?(?:つ|種|点|項目|要素|段階))"
)
# A clause, and not a noun: 「Xは…することです」 mostly says what to do.
TO_DO = re.compile(r"(?:[うくぐすつぬぶむる]|ない|た)こと$")
# What it says stands somewhere else.
ELSEWHERE = re.compile(
    r"次の|前の[^、]{0,8}例|の例では|以下(?![「、])|上記|下記|前述|後述|先ほど|この(?:書籍|本|章|節|ページ|文書|例|図|表)"
)
DEICTIC = re.compile(
    r"この(?:場合|手順|コマンド|ファイル|ため|とき|ように|セクション|バージョン)"
    r"|ここでは|上の|下の|今回|私|我々|わたし|あなたの|例えば|たとえば"
)
# 「Xは…を表しています」 tells of one case.
AT_WORK = re.compile(r"(?:て|で)い(?:る|ます)$")
SHOWS = re.compile(r"を(?:意味|表)[^を]{1,4}$")
ENUMERATION = re.compile(r"(?:[^、]{1,14}、){3,}")
# A judgement, or a comparison with what was said before.
OPINION = re.compile(
    r"(?:良い|よい|いい|優れた|推奨される|推奨の|便利な|簡単な|一般的な|最適な|最良の|重要な|必要な|大切な|不可欠な"
    r"|有効な|適切な|強力な|有用な|標準的な|効果的な|同様の|新しい|新たな|別の|同じ|よくある|画期的な|厄介な|面白い|オプショナルな|複雑な|最も[^、。]{1,8}な|必要となる|素晴らしい|安全な|主な|少し[^、。]{1,8}な|かなり[^、。]{1,8}な|とても[^、。]{1,8}な)"
    r"(?:[^、。]{1,6}の)?[^、。の]{1,8}$|後継(?:となるもの)?$|ということ$|たいもの$|ようなもの$|べき[^、。]{1,8}$|べきという[^、。]{1,8}$|置き換えるもの$|の(?:証明|証拠|象徴)$|に関(?:する|した)もの$|目的と(?:する|した)もの$|最(?:重要|強)[^、。]{1,8}$|基本的な[^、。の]{0,2}(?:要素|部分|もの)$|重要な?部分$|というもの$|[0-9０-９一二三四五六七八九]つ$"
    r"|(?:(?:重要|大切|必要|不可欠|便利|有用)な|同様の)もの$|(?:要因|鍵|カギ|出発点|第一歩|近道)$|最も[^、。]{1,16}の\s?(?:[1１一]\s?つ|ひとつ)"
)
# 「Xは、…情報が豊富である」, 「…するのが原則である」: of something else, or of what is done.
OWN_SUBJECT = re.compile(f"が[{KANJI}{KATAKANA}A-Za-z0-9]{{1,8}}$")
# 「Xは…できないため、…」 is said for what follows from it.
REASON = re.compile(
    r"(?:(?<!も)ので|(?:ます|です|だ)から|(?:でき|れ|い|あ|え)るため|であるため|ないため)、"
)
POINTING = re.compile(r"(?:その|この|それ|これ)(?!名|道の|ぞれ)|.*、(?:これ|それ)は")
LESSER = re.compile(
    r"(?:ます|です|だ|る)が、|というより|[とに]比べ(?:ると|て)、?|より(?:も)?[^、。]{0,6}(?:高|低|大き|小さ|強|簡単)|補完する"
)
MADE_OF = re.compile(
    r"から(?:な(?:る|ります)|成(?:る|ります)|構成(?:される|されます|されている|されています))$"
)
# Of one thing after another: 「Xは…、Yは…である」.
PARALLEL = re.compile(r"[、,，]\s?[^、。，「」はが]{1,15}は(?!じめ)")
# Code, a formula, or a mere name.
FORMULA = re.compile(r"[\\=$]|^[!-~]+$")
SPACED = re.compile(f"(?<=[{KANJI}\u3041-\u30ff]) (?=[{KANJI}\u3041-\u30ff])")
DOES = re.compile(
    r"(?:ます|する|れる|きる|える|ける|せる|てる|べる|める|行う|扱う|担う|持つ|保つ|示す|表す|指す|ぶ|む)$"
)
USES = re.compile(
    r"を(?:多用|必要と)(?:する|します)$|(?:ので|ため)、|重要な役割を[^、。]+$|先頭に|末尾に"
)
KIND_OF = re.compile(r"(?P<noun>[^。]+?)(?:であり|で)、")
PASSIVE = re.compile(r"[らわかがさたなばま]れ(?:る|ます|ている|ています)$")
MAY_BE = re.compile(r"(?:場合|こと)があ(?:る|ります)$")
PAST = re.compile(r"(?:ました|でした|であった|だった|した|された|れた)$")
NAMED = rf"{OPEN}\s?{MASK}\s?{CLOSE}{PAREN}{CLOSE}"
# Of what a phrase without a verb is said, unless of its heading.
TOPIC = re.compile(r"は|^[^。]{1,30}[:：]")
# Or in brackets behind its long form.
SUBJECT = rf"(?:{NAMED}|[^、。はがを（）()]{{2,30}}[（(](?:以下、?)?{OPEN}{MASK}{CLOSE}[）)])"
TOWA = re.compile(rf"{LEAD}{SUBJECT}\s?(?:とは|というのは)、?{NOT_TOWA}\s?(?P<rest>.+)")
WA = re.compile(rf"{LEAD}{SUBJECT}\s?は、?\s?(?P<rest>.+)")
CALLING = (
    r"と(?:も)?、?(?:呼(?:ぶ|び|ばれ|んで)|称(?:する|し|され)"
    r"|(?:い|言)(?:う(?=[。．、\s]|$)|い|われ))"
)
IN_FORMULA = re.compile(r"\$[^$]*\$")
UNSAID = re.compile(r"(?:^|[,，、.．])\s*$")
POINTS_BACK = re.compile(r"これ|それ|この|その|ここ|前の")
CALLED = re.compile(
    rf"(?P<what>.{{8,}})(?:を|(?<!で)(?<!また)は)、?\s?(?:[^、。をは]{{0,14}}(?:で|に|では|には|、))?{NAMED}\s?{CALLING}"
    r"(?:ます|ています|ている|る|、.*)?$"
)
THIS_IS_CALLED = re.compile(
    r"(?:これら?|それら?|このこと|そのこと|(?:これら|それら|こ|そ)の[^、。をは]{1,14}|こうした[^、。をは]{1,14}"
    rf"|そのような[^、。をは]{{1,14}})(?:のこと)?(?:を|(?<!に)は)、?[^、。]{{0,14}}?(?<![のなA-Za-z])(?<![A-Za-z{KATAKANA}]\s){NAMED}\s?{CALLING}"
)
# Leans on the sentence before it, so it cannot be a definition alone.
LEANS = re.compile(
    r"(?:この|その|これ|それ|そして|しかし|また|ただし|さらに|次に|まず|例えば|たとえば|つまり|すると|ここで|そこで"
    r"|一方|もし|なお|こうして|そのため|よって|したがって|そうする)"
)
# 「機能とは…機能のこと」
CIRCULAR = re.compile(
    rf"{MASK}.*[^「『\"（(]{MASK}(?:の(?:こと|一種|総称))?"
    r"(?:です|である|だ|を(?:指|表)(?:す|します)|をい(?:う|います)|を意味(?:する|します))$"
)
SHORTEST, LONGEST, FAR_TOO_LONG = 9, 180, 220
LITTLE = 11


def judged(sentence: str, *, is_titled: bool = False) -> Finding | None:
    """What a plain sentence, in which the term is masked, says of it; `is_titled`: it is the first
    one below a heading that names the term."""
    if len(sentence) < SHORTEST:
        return None
    core = core_of(SPACED.sub("", sentence))
    if not is_statement(core) or LISTED.search(core) or NORMATIVE.search(sentence):
        return None
    if found := TOWA.match(core):
        finding = _towa(found["rest"])
    elif found := WA.match(core):
        finding = _wa(found["rest"], is_titled=is_titled)
    else:
        finding = _named(core)
    if finding is None and is_titled and CLASS.search(core) and not TOPIC.search(core):
        is_said = OPINION.search(core) is None and MASK not in core
        finding = Finding(0.66, "heading") if is_said else None
    if finding is None:
        return None
    change = 0.0
    if is_titled:
        change += 0.1
    if ELSEWHERE.search(core):
        change -= 0.24
    elif DEICTIC.search(core):
        change -= 0.14
    if len(sentence) > LONGEST:
        change -= 0.12 if len(sentence) <= FAR_TOO_LONG else 0.24
    if CIRCULAR.search(core):
        change -= 0.4
    # It tells what stands in a command or a formula.
    if sentence.startswith("ここで、") and finding.pattern == "wa":
        change -= 0.24
    if sentence.startswith(("なお", "また")):
        change -= 0.06
    return adjusted(finding, change)


def is_statement(sentence: str) -> bool:
    """Neither a question, nor an order, nor a denial; and whole."""
    core = core_of(sentence)
    if core.endswith("、"):
        return False
    return not (QUESTION.search(core) or ORDER.search(core) or NEGATIVE.search(core))


def stands_by_itself(sentence: str) -> bool:
    """Whether it is a statement that needs nothing around it."""
    return is_statement(sentence) and not ELSEWHERE.search(sentence)


def calls(sentence: str) -> bool:
    """Whether it names what the sentence before it says: 「これをXと呼ぶ」."""
    return THIS_IS_CALLED.match(sentence) is not None


def core_of(sentence: str) -> str:
    """Without what stands after the last word."""
    while True:
        shorter = ENDING.sub("", sentence.strip())
        if shorter == sentence:
            return sentence
        sentence = shorter


def _towa(rest: str) -> Finding | None:
    if len(rest) < 4:
        return None
    if MEANS.search(rest):
        return Finding(0.94, "towa")
    if copula := COPULA.search(rest):
        noun = rest[: copula.start()]
        return None if NOT_NOUN.search(noun) else Finding(0.92, "towa")
    if CLASS.search(rest):
        return Finding(0.9, "towa")
    return None if PAST.search(rest) or MAY_BE.search(rest) else Finding(0.72, "towa")


def _wa(rest: str, *, is_titled: bool) -> Finding | None:
    if len(rest) < 4 or PAST.search(rest) or "ください" in rest or POINTING.match(rest):
        return None
    change = -0.12 if LESSER.search(rest) or PARALLEL.search(rest) else 0.0
    if REASON.search(rest):
        change -= 0.24
    if AT_WORK.search(rest):
        return None
    if MEANS.search(rest):
        if OPINION.search(rest):
            return None
        return Finding((0.72 if SHOWS.search(rest) else 0.84) + change, "wa")
    if copula := COPULA.search(rest):
        noun = rest[: copula.start()].rstrip()
        if OPINION.search(noun) or FORMULA.search(noun) or OWN_SUBJECT.search(noun):
            return None
        if TO_DO.search(noun):
            return Finding(0.54, "wa")
        if ENUMERATION.match(noun):
            return Finding(0.58, "wa")
        if len(noun) < LITTLE:
            change -= 0.2
        if CLASS.search(noun):
            return Finding(0.82 + change, "wa")
        if NOT_NOUN.search(core_of(noun)) or not SET_APART.search(core_of(noun)):
            return None
        return Finding(0.68 + change, "wa")
    if CLASS.search(rest):
        if OPINION.search(rest):
            return None
        # 「Xは…すること」 is an order.
        return Finding(0.58 if TO_DO.search(rest) else 0.74, "wa")
    if MADE_OF.search(rest):
        return Finding(0.68 + change, "wa")
    if is_titled and change == 0 and _does_something(rest):
        return Finding(0.66, "heading")
    return None


def _does_something(rest: str) -> bool:
    """Whether it tells what a thing is for: 「…で動作します」 and 「…を多用します」 do not."""
    if not DOES.search(rest) or PASSIVE.search(rest):
        return False
    kind = KIND_OF.match(rest)
    if kind and CLASS.search(kind["noun"]):
        return True
    return ("を" in rest or "として" in rest) and not USES.search(rest)


def _named(core: str) -> Finding | None:
    if THIS_IS_CALLED.match(core):
        return None
    found = CALLED.match(core)
    # 「$n$ を X と呼ぶ」 says no more than the formula.
    if found is None or UNSAID.search(IN_FORMULA.sub("", found["what"])):
        return None
    return Finding(0.56 if POINTS_BACK.search(found["what"]) else 0.76, "called")
