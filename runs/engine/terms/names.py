"""Names that people and places have in many texts: no list is complete, and none need be long.

A given name that is also a word or a product (Mark, Grace, Ruby, Ada, Jenkins) is left out: alone
it does not tell a person from a thing. Such people are known by what stands around them.
"""


def _names(text: str) -> frozenset[str]:
    """In lower case; a name of two words is written here with a line between them."""
    return frozenset(name.replace("_", " ") for name in text.split())


GIVEN_NAMES = _names(
    """
    aaron abigail adam adrian agnes ahmed aiko akira albert alejandro alessandro alexander
    alexandra alfred ali alice alison amanda amy ana anders andrea andreas andrew andrey angela
    anita anna anne annika anthony antoine antonio arthur ayumi barbara beatrice ben benjamin
    bernard bjorn bob boris brandon brenda brian bruno bryan carl carla carlos carol caroline
    catherine cecilia charles charlotte chiara chloe chris christian christina christine
    christoph christopher claire clara claudia colin craig cynthia daichi daisuke damien daniel
    daniela danielle dave david deborah denis dennis derek diana diane diego dmitri dmitry
    dominic donald donna dorothy douglas edith eduardo edward edwin eileen elena elias elisabeth
    elizabeth ella ellen emi emil emily emma eric erik esther eugene eva evelyn fatima felix
    fernando fiona florian frances francesca francesco francis francisco francois frank franz
    fred frederic frederick fumiko gabriel gabriela gary gerald gerard giovanni giulia giuseppe
    greg gregory guido guillaume gustav haruka harold hanna hannah hans haruki harry hassan
    heather heidi helen helena helga henrik henry hiroko hiroshi hiroyuki howard hugh ian ibrahim
    igor ines ingrid irene isaac isabel isabella ivan jack jacob jacques jakob james jan jane
    janet jason javier jean jeff jeffrey jennifer jens jeremy jessica jim joachim joan joanna joe
    joel johan johann johanna john jonas jonathan jorge jose josef joseph joshua juan judith jun
    juergen karen karin karl katarina kate katherine kathleen katrin kazuki keiko keith kelly ken
    kenji kenneth kevin klaus koji kristen kristina kumar kurt kyoko lars laura lauren laurent
    lawrence leah leonard leonardo lewis liam linda linus lisa lorenzo louis louise luca lucas
    lucia ludwig luigi luis luke magnus makoto manuel marc marcel marco marcus margaret maria
    marie marina mario marion marko markus marta martha martin martina mary masahiro masaru
    mateusz matteo matthew matthias maurice megan mehmet melissa michael michel michelle midori
    miguel mihail mika mikael mike mikhail mohamed mohammed monica monika nadia nancy naomi natalie
    nathan neil nicholas nick nicola nicolas nicole niels nikita nikolai nina noah nora norman olaf
    oleg oliver olivia omar oscar otto pablo pamela patricia patrick paul paula pavel pedro peter
    philip philippe pierre piotr priya rachel rafael raj ralph raymond rebecca reiko renate ricardo
    richard rita robert roberto robin rodrigo roger roland roman ronald rosa rudolf russell ruth
    ryan ryo sabine sakura sally samantha samuel sandra sanjay sara sarah satoshi sean sebastian
    sergei sergey sharon shigeru shin shinji simon simone sofia sofie sophia sophie stefan stefano
    stephanie stephen steve steven stuart sumiko susan susanne suzanne sven sylvia takashi takeshi
    tamara taro tatiana teresa tetsuya thomas timothy tobias todd tomas tomoko toshiro tony
    ursula valentina valerie vanessa vera veronica victor victoria vikram vincent virginia vladimir
    walter wei werner william wolfgang xavier yan yasmin yoko yoshiko yuki yukihiro yumi yuri yusuke
    yves zoe
    """
)

PLACES = _names(
    """
    africa america amsterdam argentina asia athens australia austria bangkok bangladesh
    barcelona beijing belgium berlin boston brazil brussels bulgaria california canada chicago
    chile china colombia copenhagen croatia cuba czech_republic denmark dublin egypt england
    estonia ethiopia europe finland florida france frankfurt geneva germany ghana greece hamburg
    hawaii helsinki hiroshima hokkaido hong_kong hungary iceland india indonesia iran iraq
    ireland israel istanbul italy jakarta japan kenya kobe korea kyoto kyushu latvia lisbon
    lithuania london los_angeles luxembourg madrid malaysia melbourne mexico milan montreal
    morocco moscow mumbai munich nagasaki nagoya netherlands new_york new_zealand nigeria
    north_america north_korea norway okinawa osaka oslo pakistan paris peru philippines poland
    portugal prague romania rome russia san_francisco saudi_arabia scotland seattle seoul serbia
    shanghai shikoku singapore slovakia slovenia south_africa south_america south_korea spain
    stockholm sweden switzerland sydney taipei taiwan thailand tokyo toronto turkey ukraine
    united_kingdom united_states uruguay vancouver venezuela vienna vietnam wales warsaw
    washington yokohama zurich
    """
)
