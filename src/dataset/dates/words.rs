//! Names of months, weekdays, ordinals and feasts, in English and in the languages that messages fall into. No grammar.

use jiff::civil::Weekday;

use crate::dataset::numbers::small;
use crate::dataset::tokens::{Sort, Token};

/// By month; what begins a word as well as the word itself. Words that mean something else in English ("ago", "out") are
/// left out.
const MONTHS: [&str; 12] = [
    "january jan jänner januar januari janvier janv enero gennaio gen janeiro ene leden ledna styczeń stycznia ocak tammikuu tammikuuta janúar ianuarie gener január января ιανουαρίου",
    "february feb februar februari février févr fév febrero febbraio fevereiro února luty lutego şubat helmikuu helmikuuta febrúar februarie febrer február февраля φεβρουαρίου",
    "march mar märz mrz maart mars marzo março března marzec marca mart maaliskuu maaliskuuta marts martie març március марта μαρτίου brezna března",
    "april apr avril avr abril aprile dubna kwiecień kwietnia nisan huhtikuu huhtikuuta apríl aprilie április апреля απριλίου",
    "may mai mayo maggio maio mei maj maja mayıs května toukokuu toukokuuta maí maig május мая μαΐου",
    "june jun juni juin junio giugno giu junho czerwiec czerwca června haziran kesäkuu kesäkuuta júní iunie juny június июня ιουνίου",
    "july jul juli juillet juil julio luglio lug julho lipiec lipca července temmuz heinäkuu heinäkuuta júlí iulie juliol július июля ιουλίου",
    "august aug août aout agosto augusti augustus sierpień sierpnia srpna ağustos elokuu elokuuta ágúst agost augusztus августа αυγούστου",
    "september sep sept septembre septiembre settembre setembro wrzesień września září eylül syyskuu syyskuuta septembrie szeptember сентября σεπτεμβρίου",
    "october oct okt oktober octobre octubre ottobre ott outubro październik października října ekim lokakuu lokakuuta október octombrie октября οκτωβρίου",
    "november nov novembre noviembre novembro listopad listopada listopadu kasım marraskuu marraskuuta nóvember noiembrie ноября νοεμβρίου",
    "december dec dez dezember décembre déc diciembre dicembre dic dezembro grudzień grudnia prosince aralık joulukuu joulukuuta desember des decembrie декабря δεκεμβρίου",
];

const WEEKDAYS: [(Weekday, &str); 7] = [
    (
        Weekday::Monday,
        "monday mon mondays montag lundi lunes lunedì segunda måndag mandag maandag poniedziałek",
    ),
    (
        Weekday::Tuesday,
        "tuesday tue tues tuesdays dienstag mardi martes martedì terça tisdag tirsdag dinsdag wtorek",
    ),
    (
        Weekday::Wednesday,
        "wednesday wed weds wednesdays mittwoch mercredi miércoles mercoledì quarta onsdag woensdag środa",
    ),
    (
        Weekday::Thursday,
        "thursday thu thur thurs thursdays donnerstag jeudi jueves giovedì quinta torsdag donderdag czwartek",
    ),
    (Weekday::Friday, "friday fri fridays freitag vendredi viernes venerdì sexta fredag vrijdag piątek"),
    (
        Weekday::Saturday,
        "saturday sat saturdays samstag sonnabend samedi sábado sabato lördag lørdag zaterdag sobota",
    ),
    (Weekday::Sunday, "sunday sun sundays sonntag dimanche domingo domenica söndag søndag zondag niedziela"),
];

const ORDINALS: [&str; 19] = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
];

/// Days that have a name: words in a row, day, month.
const FEASTS: [(&[&str], i8, i8); 14] = [
    (&["christmas", "eve"], 24, 12),
    (&["christmas", "day"], 25, 12),
    (&["boxing", "day"], 26, 12),
    (&["new", "year", "'", "s", "eve"], 31, 12),
    (&["new", "year", "'", "s", "day"], 1, 1),
    (&["new", "year", "'", "s"], 1, 1),
    (&["silvester"], 31, 12),
    (&["halloween"], 31, 10),
    (&["valentine", "'", "s"], 14, 2),
    (&["st", "patrick", "'", "s"], 17, 3),
    (&["bastille", "day"], 14, 7),
    (&["all", "saints"], 1, 11),
    (&["leap", "day"], 29, 2),
    (&["may", "day"], 1, 5),
];

fn listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// The month of a name or its usual abbreviation.
pub(super) fn month(token: &Token) -> Option<i8> {
    if token.sort != Sort::Word {
        return None;
    }
    MONTHS.iter().position(|names| listed(names, token.text)).map(|index| index as i8 + 1)
}

/// A month in Roman numerals, as in 14.III.2025.
pub(super) fn roman(word: &str) -> Option<i8> {
    const NUMERALS: [&str; 12] = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"];
    NUMERALS.iter().position(|numeral| *numeral == word).map(|index| index as i8 + 1)
}

/// The weekday of a name or its usual abbreviation.
pub(super) fn weekday(token: &Token) -> Option<Weekday> {
    let named = WEEKDAYS.iter().find(|(_, names)| token.sort == Sort::Word && listed(names, token.text));
    named.map(|(weekday, _)| *weekday)
}

/// A feast that begins here: day and month.
pub(super) fn feast(tokens: &[Token]) -> Option<(i8, i8)> {
    let begins = |words: &[&str]| {
        words.len() <= tokens.len() && words.iter().zip(tokens).all(|(word, token)| token.text == *word)
    };
    FEASTS.iter().find(|(words, ..)| begins(words)).map(|(_, day, month)| (*day, *month))
}

/// An ordinal in words ("twenty-first"): its value and how many tokens it takes.
pub(super) fn ordinal(tokens: &[Token]) -> Option<(i64, usize)> {
    let unit = |word: &str| ORDINALS.iter().position(|known| *known == word).map(|index| index as i64 + 1);
    let first = tokens.first().filter(|token| token.sort == Sort::Word)?;
    match first.text {
        "twentieth" => return Some((20, 1)),
        "thirtieth" => return Some((30, 1)),
        _ => {}
    }
    if let Some(value) = unit(first.text) {
        return Some((value, 1));
    }
    let tens = small(first.text).map(|value| value as i64).filter(|value| matches!(value, 20 | 30))?;
    let skip = if tokens.get(1).is_some_and(|token| token.is_mark("-")) { 2 } else { 1 };
    let value = unit(tokens.get(skip)?.text).filter(|value| *value < 10)?;
    Some((tens + value, skip + 1))
}

/// What makes digits an ordinal: "5th", "5.", "5e".
pub(super) fn is_ordinal_ending(token: &Token) -> bool {
    !token.gap
        && matches!(
            token.text,
            "st" | "nd" | "rd" | "th" | "er" | "e" | "ème" | "º" | "ª" | "°" | "." | "ste" | "de"
        )
}

/// Words and marks that may stand between the days of a list, a month and a year.
pub(super) fn is_connector(token: &Token) -> bool {
    const WORDS: &str = "of the and to or until till til through thru up including incl inclusive both from between by on am is a \
         day bis und et au du de le al el la y e di del della den der dem vom zum og och till tot en van do st nd rd th er ste \
         in for also morning afternoon evening night then with";
    match token.sort {
        Sort::Word => listed(WORDS, token.text) || weekday(token).is_some(),
        Sort::Mark => matches!(
            token.text,
            "," | "-" | "." | "&" | "/" | "(" | ")" | "+" | "*" | "_" | "º" | "ª" | "°" | "'"
        ),
        Sort::Digits => false,
    }
}
