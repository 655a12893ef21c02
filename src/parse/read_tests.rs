//! The reader against rows of its own and against `serde_json`.

use super::*;
use proptest::prelude::*;
use serde_json::Value;

#[test]
fn what_is_wrong_and_where() {
    use Problem::*;
    // Text, byte, problem, whether the text merely ended too early.
    let rows = [
        ("", 0, NoValue, true),
        ("  ", 2, NoValue, true),
        ("tru", 3, NoValue, true),
        ("trux", 3, NoValue, false),
        ("nul", 3, NoValue, true),
        ("NaN", 0, NoValue, false),
        ("'a'", 0, NoValue, false),
        ("+1", 0, NoValue, false),
        (".5", 0, NoValue, false),
        ("-", 1, NoDigit, true),
        ("-x", 1, NoDigit, false),
        ("1.", 2, NoDigit, true),
        ("1.e5", 2, NoDigit, false),
        ("1e", 2, NoDigit, true),
        ("1e+", 3, NoDigit, true),
        ("012", 0, LeadingZero, false),
        ("[-01]", 2, LeadingZero, false),
        ("1 2", 2, TrailingText, false),
        ("{} // no", 3, TrailingText, false),
        ("[", 1, NoValue, true),
        ("[1", 2, NoElementEnd, true),
        ("[1,", 3, NoValue, true),
        ("[1,]", 3, NoValue, false),
        ("[1 2]", 3, NoElementEnd, false),
        ("{", 1, NoName, true),
        ("{a:1}", 1, NoName, false),
        ("{\"a\"", 4, NoColon, true),
        ("{\"a\" 1}", 5, NoColon, false),
        ("{\"a\":", 5, NoValue, true),
        ("{\"a\":1", 6, NoMemberEnd, true),
        ("{\"a\":1,", 7, NoName, true),
        ("{\"a\":1,}", 7, NoName, false),
        ("{\"a\":1 \"b\":2}", 7, NoMemberEnd, false),
        ("\"a", 2, OpenString, true),
        ("\"a\n\"", 2, ControlCharacter, false),
        ("\"\\", 2, BadEscape, true),
        ("\"\\x\"", 2, BadEscape, false),
        ("\"\\u12", 5, BadEscape, true),
        ("\"\\u12g4\"", 5, BadEscape, false),
        ("\"\\ud83d\\u", 9, BadEscape, true),
        ("\u{feff}1", 0, NoValue, false),
        ("1\u{a0}", 1, TrailingText, false),
    ];
    for (text, offset, problem, cut) in rows {
        assert_eq!(Json::from_text(text), Err(ReadError { offset, problem, cut }), "{text:?}");
    }
}

#[test]
fn errors_say_what_would_be_right() {
    let error = Json::from_text(r#"{"a":1,}"#).unwrap_err();
    insta::assert_snapshot!(error, @"expected a member name in double quotes at byte 7");
    let error = Json::from_text("[1 2]").unwrap_err();
    insta::assert_snapshot!(error, @"expected ',' or ']' after an element at byte 3");
}

#[test]
fn escapes_decode_and_lone_surrogates_are_replaced() {
    let rows = [
        (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
        (r#""\u00e9\u20AC\u0000""#, "é€\0"),
        (r#""x\ud83d\ude00y""#, "x😀y"),
        (r#""\ud83d""#, "\u{fffd}"),
        (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
        (r#""\ud83dA""#, "\u{fffd}A"),
        (r#""\ud83d\u0041""#, "\u{fffd}A"),
        (r#""\ud83d\n""#, "\u{fffd}\n"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
    ];
    for (text, decoded) in rows {
        assert_eq!(Json::from_text(text), Ok(Json::String(decoded.to_owned())), "{text}");
    }
}

#[test]
fn depth_has_a_limit_that_no_stack_notices() {
    let nested = |open: &str, close: &str, n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let per_repeat = open.matches(['[', '{']).count();
        let deepest = nested(open, close, MAX_DEPTH / per_repeat);
        let value = Json::from_text(&deepest).expect("within the limit");
        assert_eq!(value.to_string(), deepest);
        assert_eq!(Json::from(&value.to_value()), value);
        assert_eq!(value.size().depth, MAX_DEPTH as u64 + 1);
        let deeper = Json::from_text(&nested(open, close, MAX_DEPTH / per_repeat + 1)).unwrap_err();
        assert_eq!((deeper.problem, deeper.cut), (Problem::TooDeep, false));
        assert_eq!(Json::from_text(&open.repeat(100_000)).unwrap_err().problem, Problem::TooDeep);
    }
}

/// JSON texts with odd white space, escapes and number forms, and now and then a repeated name.
fn json_text() -> impl Strategy<Value = String> {
    let space = "[ \n\r\t]{0,2}";
    let string = r#""([a-c\PC&&[^"\\]]|\\["\\/bfnrt]|\\u00[0-9a-fA-F]{2}|\\ud83d\\ude[0-4][0-9a-f]){0,4}""#;
    let number = "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?";
    let scalar = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        number,
        string
    ];
    scalar.prop_recursive(4, 24, 4, move |inner| {
        let element =
            (space, inner.clone(), space).prop_map(|(before, value, after)| before + &value + &after);
        let member = (space, "\"[abc]\"", space, element.clone())
            .prop_map(|(before, name, after, value)| format!("{before}{name}{after}:{value}"));
        prop_oneof![
            proptest::collection::vec(element, 0..4).prop_map(|all| format!("[{}]", all.join(","))),
            proptest::collection::vec(member, 0..4).prop_map(|all| format!("{{{}}}", all.join(","))),
        ]
    })
}

/// `serde_json` respells exponents, so its values are compared as ours are: numbers by value.
fn by_value(value: &Value) -> Json {
    Json::from(value)
}

proptest! {
    #[test]
    fn reads_what_serde_json_reads(text in json_text()) {
        let expected: Value = serde_json::from_str(&text).expect("the generator writes JSON");
        let read = Json::from_text(&text).expect("so this reads too");
        prop_assert_eq!(by_value(&read.to_value()), by_value(&expected));
        prop_assert_eq!(Json::from_text(&read.to_string()), Ok(read));
    }

    #[test]
    fn refuses_what_serde_json_refuses(text in json_text(), at in 0.0..1.0_f64, put in r#"[\[\]{}",:\\0-9eE+.tn x-]{0,2}"#, cut in 0..3_usize) {
        let mut at = (at * text.len() as f64) as usize;
        while !text.is_char_boundary(at) { at -= 1 }
        let mut end = (at + cut).min(text.len());
        while !text.is_char_boundary(end) { end += 1 }
        let damaged = format!("{}{put}{}", &text[..at], &text[end..]);
        let theirs: Result<Value, _> = serde_json::from_str(&damaged);
        match (Json::from_text(&damaged), theirs) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(by_value(&ours.to_value()), by_value(&theirs)),
            // It refuses lone surrogates, which models do write.
            (Ok(_), Err(error)) => prop_assert!(damaged.contains("\\u"), "{}: {}", damaged, error),
            (Err(error), Ok(_)) => prop_assert!(false, "{}: {}", damaged, error),
            (Err(ours), Err(theirs)) => {
                let surrogate = damaged.contains("\\u");
                prop_assert!(surrogate || ours.cut == theirs.is_eof(), "{}: {:?}, {}", damaged, ours, theirs);
            }
        }
    }

    #[test]
    fn every_beginning_of_a_container_is_cut(text in json_text(), at in 0.0..1.0_f64) {
        let mut at = (at * text.len() as f64) as usize;
        while !text.is_char_boundary(at) { at -= 1 }
        if text.starts_with(['{', '[', '"']) && at < text.trim_end().len() {
            prop_assert!(Json::from_text(&text[..at]).unwrap_err().cut);
        }
    }

    #[test]
    fn never_panics(text in any::<String>(), bytes in r#"[\[\]{}",:\\u0-9a-fE+. -]{0,40}"#) {
        for text in [text, bytes] {
            if let Err(error) = Json::from_text(&text) {
                prop_assert!(error.offset <= text.len() && (!error.cut || error.offset == text.len()));
            }
        }
    }
}
