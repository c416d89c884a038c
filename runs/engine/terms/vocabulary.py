"""Words that make no term, whatever the counts say."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# They only point at a noun or measure it: "the same container" is a container.
EMPTY_ADJECTIVES = _words(
    """
    able above actual added additional affected aforementioned akin alike all another any
    apparent appropriate associated available bad based based-on below best better big bigger
    biggest both brief called capable certain clear close complete considerable convenient
    correct corresponding created current defined described desired different difficult due each
    earlier early easier easy eight eighty eleven eligible else enough entire equivalent
    especial every exact existing extra false familiar far few fewer fifteen fifty fine first
    five following former forty four fun further general given good great greater greatest happy
    helpful higher highest huge hundred ideal identical important impossible inappropriate
    included incorrect individual interested interesting invalid large larger largest last late
    later latest latter least less lesser likely little longer longest lower lowest main many
    maximum mentioned mere million minimum missing modified more most much multiple my named
    neat necessary new newer newest next nice nine ninety notable numerous obvious odd old older
    oldest only opposite ordinary original other our out-of-date overall own particular past
    perfect poor possible potential powerful preceding preferred present previous prior probable
    proper provided quick quicker rare ready reasonable recent recommended related relevant
    remaining removed repeated replacement required respective responsible right running said
    same selected separate seven seventy several shorter shortest significant similar simpler
    simplest six sixty slight slow small smaller smallest so-called sole some sort specific
    specified straightforward strange subsequent substantial such sudden sufficient suitable
    sure ten thirty thousand three total tricky true twelve twenty two typical unable uncommon
    underlying undesirable unexpected unlikely unnecessary unrelated unusual upcoming updated
    used useful using usual valid various very viable vice vital well whole willing wise
    wonderful worse worst worth wrong yet
    """
)
# They begin a phrase and say nothing: "a number of pods", "kind of". Cut off its front.
EMPTY_NOUNS = _words(
    """
    bit bunch couple kind lot lots number plenty sort sorts variety way ways thing things
    anything something nothing everything someone anyone everyone none example examples e.g i.e
    etc vs
    """
)
# Taken for nouns by a tagger that learned from newspapers.
NEVER = _words(
    """
    a an the i you we they he she it this that these those who which what whose there here
    please note notes see yes no ok okay hi hello thanks today tomorrow yesterday now then e.g.
    i.e. eg ie etc vs via per re aka todo tbd n/a january february march april june july august
    september october november december monday tuesday wednesday thursday friday saturday sunday
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun am pm mr mrs ms
    dr prof inc ltd co isn doesn don didn won can couldn shouldn wouldn aren wasn weren hasn
    haven let lets thus hence otherwise however therefore instead although though whether
    """
)

# After a number they measure.
UNITS = _words(
    """
    mm cm m km kg g mg t kw mw gw w kwh mwh wh kv v a ma hz khz mhz ghz kb mb gb tb kib mib gib
    b bit bits byte bytes s ms sec secs min mins h hr hrs hours hour minutes minute seconds
    second days day weeks week months month years year times percent px pt em rem dpi c f k ha l
    ml ppm rpm bps kbps mbps gbps m/s km/h am pm kn nm
    """
)

# Japanese words that no compound goes through: they point, count or join.
NOT_JAPANESE = _words(
    """
    こと もの ところ ため とき うち まま わけ はず つもり あと まえ ほう よう それぞれ すべて
    ほか ここ そこ どこ これ それ あれ どれ いくつ みな たち とおり どおり くらい ぐらい ごと
    おき かわり あいだ おかげ せい 場合 際 以上 以下 以外 以降 以前 以内 今回 前回 次回 上記
    下記 前述 後述 他 例 方 時 等 全て 総て 今 自分 自身 同様 一方 一部 大部分 多く 最近 現在
    今後 その後 通り 為 事 皆 何 誰 次 前 後 中 上 下 内 毎 別 他方 両方 双方 互い 相互 たいてい
    大抵 普段 最初 最後 途中 当初 先 直後 直前 同時 さらに 今日 明日 昨日 今年 昨年 来年 今月
    先月 来月 午前 午後 毎日 毎年 毎月 平日
    """
)
# They stand inside a compound, but neither begin it nor are one.
NOT_ALONE = _words(
    """
    必要 可能 不要 任意 特定 実際 通常 一般 基本 全体 部分 以後 各種 複数 単一 個別 最大 最小
    最低 最高 具体 詳細 簡単 単純 重要 主 主要 適切 正確 正常 十分 有効 無効 新規 既存 独自 同一
    同 本 当該 該当 対象 所 者 物 外 間 側 点 面 量 数 値 式 型 形 系 用 分 化 性 的
    """
)
EMPTY_PREFIXES = _words("御 お ご 各 本 当 同 約 毎 両 諸 某 翌 昨 来 現 前 満")
# After a name they are no part of it: 田中さん is 田中.
HONORIFICS = _words("さん 氏 様 殿 君 ちゃん")
