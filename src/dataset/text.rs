//! Texts made comparable: case, white space, quotation marks and word endings out of the way. Knows no JSON.

/// Words that say nothing about a subject.
const STOP_WORDS: &str = " a an the and or but of in on at to for from with without by as is are was were be been being it its \
     this that these those there here he she they them his her their our your my we you i not no cannot can could do \
     does did has have had will would should may might must when whenever while whose which who whom what than then so \
     if into onto over under about after before during since until up down out off again very ";

/// The text in lower case, on one line, without quotation prefixes (`> `) and typographers' characters, so that values
/// broken by a mail program are found again.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '>' | '|'));
        for c in line.chars().flat_map(char::to_lowercase) {
            match c {
                '\u{ad}' | '\u{200b}' | '\u{feff}' => {}
                '‘' | '’' | 'ʼ' | '`' | '´' => out.push('\''),
                '“' | '”' | '„' | '«' | '»' => out.push('"'),
                '‐' | '‑' | '‒' | '–' | '—' | '−' => out.push('-'),
                c if c.is_whitespace() => push_space(&mut out),
                c => out.push(c),
            }
        }
        push_space(&mut out);
    }
    out
}

fn push_space(out: &mut String) {
    if !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}

/// Whether the text holds the value as whole words, white space aside. Both are [`plain`].
pub(super) fn holds(text: &str, value: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let value: Vec<char> = value.chars().filter(|c| !c.is_whitespace()).collect();
    !value.is_empty() && (0..text.len()).any(|start| begins_with(&text, start, &value))
}

fn begins_with(text: &[char], start: usize, value: &[char]) -> bool {
    let is_word = |at: usize| text.get(at).is_some_and(|c| c.is_alphanumeric());
    if text[start] != value[0] || (value[0].is_alphanumeric() && start > 0 && is_word(start - 1)) {
        return false;
    }
    let mut at = start;
    for (index, wanted) in value.iter().enumerate() {
        while index > 0 && text.get(at).is_some_and(|c| c.is_whitespace()) {
            at += 1;
        }
        if text.get(at) != Some(wanted) {
            return false;
        }
        at += 1;
    }
    !value[value.len() - 1].is_alphanumeric() || !is_word(at)
}

/// The words of a [`plain`] text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'')
        .map(|word| word.trim_matches('\''))
        .filter(|word| !word.is_empty())
}

/// Whether a word carries meaning of its own.
pub(super) fn is_content(word: &str) -> bool {
    word.chars().count() > 1 && !STOP_WORDS.contains(&format!(" {word} "))
}

/// A word without its English ending: rough, but the same for all forms of most words.
pub(super) fn stem(word: &str) -> String {
    let word = word.strip_suffix("'s").unwrap_or(word);
    let endings: [(&str, &str); 11] = [
        ("ies", "y"),
        ("ves", "f"),
        ("sses", "ss"),
        ("xes", "x"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("zes", "z"),
        ("ing", ""),
        ("ed", ""),
        ("ly", ""),
        ("s", ""),
    ];
    let long = |rest: &str| rest.chars().count() >= 3;
    let cut = endings.iter().find_map(|(ending, instead)| {
        let rest = word.strip_suffix(ending).filter(|rest| long(rest) && !word.ends_with("ss"))?;
        Some(format!("{rest}{instead}"))
    });
    let mut stem = cut.unwrap_or_else(|| word.to_owned());
    let last: Vec<char> = stem.chars().rev().take(2).collect();
    if last.len() == 2 && last[0] == last[1] && last[0].is_alphabetic() && last[0] != 's' && last[0] != 'l' {
        stem.pop();
    }
    if long(&stem) && stem.ends_with('e') {
        stem.pop();
    }
    stem
}

/// What may be added to a word of three letters or more to make it several.
pub(super) fn plural_endings(word: &str) -> &'static [&'static str] {
    let sibilant = ["s", "x", "z", "ch", "sh"].iter().any(|end| word.ends_with(end));
    match word.chars().count() {
        0..3 => &[],
        _ if sibilant => &["es"],
        // "radios" and "heroes"; Spanish and Portuguese "-ores".
        _ if word.ends_with(['o', 'r']) => &["s", "es"],
        _ => &["s"],
    }
}

/// Whether two words name the same thing, one of it or several, possessives aside.
pub(super) fn same_thing(left: &str, right: &str) -> bool {
    let [left, right] = [left, right].map(|word| word.strip_suffix("'s").unwrap_or(word));
    left == right || is_plural(left, right) || is_plural(right, left)
}

fn is_plural(many: &str, one: &str) -> bool {
    let changed = |ending: &str, instead: &str| {
        let rest = many.strip_suffix(instead).filter(|rest| rest.len() > 1);
        rest.is_some() && rest == one.strip_suffix(ending)
    };
    many.strip_prefix(one).is_some_and(|ending| plural_endings(one).contains(&ending))
        || changed("y", "ies")
        || changed("f", "ves")
        || changed("fe", "ves")
}

/// Whether two stems belong to one word: the same, or alike to the fifth letter and further.
pub(super) fn same_word(left: &str, right: &str) -> bool {
    let shared = left.chars().zip(right.chars()).take_while(|(a, b)| a == b).count();
    let longer = left.chars().count().max(right.chars().count());
    left == right || (shared >= 5 && longer - shared <= 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_as_whole_words_whatever_the_breaks() {
        let text = plain("> The\u{a0}ID is RES-\n> 2293, not E20157;\nshe’s “at” A–B");
        assert_eq!(text, "the id is res- 2293, not e20157; she's \"at\" a-b ");
        let table = [
            ("RES-2293", true),
            ("E2015", false),
            ("20157", false),
            ("she's", true),
            ("a‑b", true),
            ("at A-B", false),
        ];
        for (value, held) in table {
            assert_eq!(holds(&text, &plain(value)), held, "{value}");
        }
    }

    #[test]
    fn a_thing_is_the_same_in_the_plural_and_by_no_other_ending() {
        let table = [
            ("jane", "jan", false),
            ("jan", "jan's", true),
            ("jon", "jones", false),
            ("jo", "jos", false),
            ("tablets", "tablet", true),
            ("box", "boxes", true),
            ("battery", "batteries", true),
            ("knife", "knives", true),
            ("radio", "radios", true),
            ("gravador", "gravadores", true),
            ("print", "printed", false),
            ("king", "k", false),
        ];
        for (left, right, same) in table {
            assert_eq!((same_thing(left, right), same_thing(right, left)), (same, same), "{left} {right}");
        }
    }

    #[test]
    fn forms_of_a_word_share_its_stem() {
        let table = [
            ("tablets", "tablet"),
            ("batteries", "battery"),
            ("crashes", "crashed"),
            ("exporting", "export"),
            ("stopped", "stops"),
            ("glasses", "glass"),
            ("recognised", "recognises"),
            ("freezing", "freezes"),
            ("knives", "knife"),
        ];
        for (left, right) in table {
            assert!(same_word(&stem(left), &stem(right)), "{left} {right}: {} {}", stem(left), stem(right));
        }
        assert!(!same_word(&stem("screen"), &stem("scanner")));
    }
}
