//! Constraints against oracles: the jsonschema crate, brute force over every token, and other spellings of a text.

#[path = "support/source.rs"]
mod source;
mod support;
#[path = "support/trial.rs"]
mod trial;

#[path = "grammar/gbnf.rs"]
mod gbnf;

use std::path::Path;
use std::sync::Arc;

use nightjar::decode::allowed::Allowed;
use nightjar::decode::constraint::{Constraint, MemberOrder, Policy, Root, Rules, Spelling, Whitespace};
use nightjar::decode::vocab::{TokenId, Vocab};
use proptest::prelude::*;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

/// One file of `tests/grammar`: a schema, texts it accepts and texts it refuses.
#[derive(serde::Deserialize)]
struct Table {
    schema: String,
    accept: Vec<String>,
    reject: Vec<String>,
    /// Texts that are valid but that the constraint never writes: repeated names, lone surrogates.
    #[serde(default)]
    never_written: Vec<String>,
}

const LAX: Policy = Policy {
    order: MemberOrder::Any,
    space: Whitespace::Any,
    spelling: Spelling::Any,
    formats: nightjar::decode::constraint::Formats::Asserted,
};

fn tables() -> Vec<(String, Table)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/grammar");
    let mut tables: Vec<_> = std::fs::read_dir(folder)
        .expect("tests/grammar")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| {
            let name = path.file_stem().expect("name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("readable");
            (name.clone(), toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")))
        })
        .collect();
    tables.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(tables.len() >= 20, "the tables are there");
    tables
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn rules(schema: &Value, policy: Policy) -> Arc<Rules> {
    Arc::new(Rules::schema(schema, policy).unwrap_or_else(|unsupported| panic!("{unsupported:?}: {schema}")))
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::options().should_validate_formats(true).build(schema).expect("a schema")
}

/// Whether the whole text is accepted, and how many bytes were.
fn accepts(constraint: &mut Constraint, text: &str) -> (bool, usize) {
    let mut matcher = constraint.start();
    let n = constraint.advance_all(&mut matcher, text.as_bytes());
    (n == text.len() && constraint.may_end(&mut matcher), n)
}

#[test]
fn tables_hold_and_the_jsonschema_crate_agrees() {
    for (name, table) in tables() {
        let schema = parsed(&table.schema);
        let validator = validator(&schema);
        let mut constraint = Constraint::new(rules(&schema, LAX));
        assert!(!table.accept.is_empty() && !table.reject.is_empty(), "{name} needs both lists");
        for text in &table.accept {
            let (accepted, n) = accepts(&mut constraint, text);
            assert!(accepted, "{name} refuses {text} after {n} bytes");
            assert!(validator.is_valid(&parsed(text)), "{name}: jsonschema refuses {text}");
        }
        for text in &table.reject {
            assert!(!accepts(&mut constraint, text).0, "{name} accepts {text}");
            let value = serde_json::from_str::<Value>(text);
            assert!(
                value.is_err() || !validator.is_valid(&value.expect("checked")),
                "{name}: jsonschema accepts {text}"
            );
        }
        for text in &table.never_written {
            assert!(!accepts(&mut constraint, text).0, "{name} accepts {text}");
        }
    }
}

/// All ids of a vocabulary.
fn ids(vocab: &Vocab) -> impl Iterator<Item = TokenId> {
    (0..vocab.len() as u32).map(TokenId)
}

/// Every token of the vocabulary, tried byte by byte without trie, walk or cache.
fn brute_force(constraint: &mut Constraint, vocab: &Vocab, prefix: &[u8]) -> Vec<TokenId> {
    let mut at = constraint.start();
    assert_eq!(constraint.advance_all(&mut at, prefix), prefix.len());
    ids(vocab)
        .filter(|&token| {
            let piece = vocab.piece(token);
            let mut matcher = at.clone();
            if vocab.is_end(token) {
                return constraint.may_end(&mut matcher);
            }
            let is_text = !vocab.is_special(token) && !piece.is_empty();
            is_text && constraint.advance_all(&mut matcher, piece) == piece.len()
        })
        .collect()
}

#[test]
fn masks_equal_brute_force_on_the_way_through_every_accepted_text() {
    let vocab = Arc::new(support::nasty_vocab());
    for (name, table) in tables() {
        let rules = rules(&parsed(&table.schema), LAX);
        let mut allowed = Allowed::new(Arc::clone(&rules), Arc::clone(&vocab));
        let mut oracle = Constraint::new(rules);
        for text in &table.accept {
            let mut matcher = allowed.start();
            for (n, &byte) in text.as_bytes().iter().enumerate() {
                let mask = allowed.mask(&mut matcher);
                let expected = brute_force(&mut oracle, &vocab, &text.as_bytes()[..n]);
                assert_eq!(
                    mask.iter().collect::<Vec<_>>(),
                    expected,
                    "{name}: after {:?}",
                    &text[..n.min(text.len())]
                );
                assert!(allowed.advance(&mut matcher, TokenId(u32::from(byte))), "{name}: {text} at {n}");
            }
            assert!(vocab.ends().iter().all(|&end| allowed.mask(&mut matcher).allows(end)), "{name}: {text}");
        }
    }
}

#[test]
fn masks_know_how_deep_the_text_is_whatever_was_asked_before() {
    let vocab = Arc::new(support::nasty_vocab());
    let schema = serde_json::json!({"type": ["array", "object"], "items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}});
    for order in [[1, 118, 117], [118, 1, 117], [117, 118, 1]] {
        let mut allowed = Allowed::new(rules(&schema, LAX), Arc::clone(&vocab));
        for (depth, tail) in order.into_iter().flat_map(|depth| [(depth, "["), (depth, "{\"")]) {
            let mut matcher = allowed.start();
            let text = "[".repeat(depth) + tail;
            assert_eq!(
                allowed.constraint().advance_all(&mut matcher, text.as_bytes()),
                text.len(),
                "{depth}"
            );
            let mask = allowed.mask(&mut matcher);
            for token in (0..vocab.len() as u32).map(TokenId) {
                let piece = String::from_utf8_lossy(vocab.piece(token));
                assert_eq!(
                    mask.allows(token),
                    allowed.check(&mut matcher, token),
                    "{depth}: {piece:?} after {tail}"
                );
            }
        }
    }
}

#[test]
fn random_texts_are_valid_and_hardly_ever_stuck() {
    let vocab = Arc::new(support::nasty_vocab());
    let mut rng = SmallRng::seed_from_u64(7);
    let (mut n_whole, mut n_texts, mut stuck) = (0, 0, Vec::new());
    for (name, table) in tables() {
        let schema = parsed(&table.schema);
        let validator = validator(&schema);
        for policy in [LAX, Policy::default(), Policy { space: Whitespace::Compact, ..Policy::default() }] {
            let mut allowed = Allowed::new(rules(&schema, policy), Arc::clone(&vocab));
            for _ in 0..6 {
                n_texts += 1;
                match support::write_randomly(&mut allowed, &vocab, &mut rng) {
                    support::Written::Whole(text) => {
                        n_whole += 1;
                        let valid = support::is_beyond_oracle(&text) || validator.is_valid(&parsed(&text));
                        assert!(valid, "{name}: jsonschema refuses {text}");
                    }
                    support::Written::DeadEnd(text) => {
                        stuck.push(format!("{name}: {}", String::from_utf8_lossy(&text)));
                    }
                    support::Written::TooLong(text) => assert!(text.len() >= 300, "{name}: long is long"),
                }
            }
        }
    }
    assert!(stuck.len() * 100 <= n_texts, "{stuck:#?}");
    assert!(n_whole * 2 > n_texts, "most texts end: {n_whole} of {n_texts}");
}

#[test]
fn a_text_is_accepted_however_it_is_cut_into_tokens() {
    let vocab = Arc::new(support::nasty_vocab());
    let mut rng = SmallRng::seed_from_u64(11);
    for (name, table) in tables() {
        let mut allowed = Allowed::new(rules(&parsed(&table.schema), LAX), Arc::clone(&vocab));
        for text in &table.accept {
            for _ in 0..5 {
                let mut matcher = allowed.start();
                let mut rest = text.as_bytes();
                while !rest.is_empty() {
                    let fits: Vec<_> = ids(&vocab)
                        .filter(|&token| !vocab.is_special(token) && !vocab.piece(token).is_empty())
                        .filter(|&token| rest.starts_with(vocab.piece(token)))
                        .collect();
                    let token = fits[rng.random_range(0..fits.len())];
                    assert!(allowed.advance(&mut matcher, token), "{name}: {text}");
                    rest = &rest[vocab.piece(token).len()..];
                }
                assert!(allowed.constraint().may_end(&mut matcher), "{name}: {text}");
            }
        }
    }
}

#[test]
fn json_mode_is_any_json_with_an_object_at_its_root() {
    let cases = [
        (r#"{"a": [1, null, {"b": "x\u00e9\ud83d\ude00"}]}"#, true, true),
        ("[1]", false, true),
        ("-0.5e+3", false, true),
        (r#"{"a": 1, "\u0061": 2}"#, false, false),
        (r#"{"a": "\ud83d"}"#, false, false),
        (r#"{"a": "\ude00"}"#, false, false),
        (r#"{"a": 01}"#, false, false),
        (r#"{"a": 1,}"#, false, false),
        (r#"{"a": 1"#, false, false),
        ("{\"a\": \"\n\"}", false, false),
    ];
    for (text, as_object, as_any) in cases {
        for (root, expected) in [(Root::Object, as_object), (Root::Any, as_any)] {
            let mut constraint = Constraint::new(Arc::new(Rules::json(root, LAX)));
            assert_eq!(accepts(&mut constraint, text).0, expected, "{text} with {root:?}");
        }
    }
}

/// Beyond what the jsonschema crate computes exactly.
#[test]
fn large_numbers_are_exact() {
    let schema =
        parsed(r#"{"type": "integer", "minimum": 12345678901234567890, "maximum": 12345678901234567899}"#);
    let mut constraint = Constraint::new(rules(&schema, LAX));
    for (text, expected) in [
        ("12345678901234567890", true),
        ("12345678901234567895.0", true),
        ("1234567890123456789.9e1", true),
        ("12345678901234567889", false),
        ("12345678901234567900", false),
        ("12345678901234567890.5", false),
    ] {
        assert_eq!(accepts(&mut constraint, text).0, expected, "{text}");
    }
}

#[test]
fn what_must_follow_is_known() {
    let schema = parsed(
        r#"{"type": "object", "properties": {"ReturnDate": {"const": "2024-01-01"}, "n": {"type": "integer"}},
            "required": ["ReturnDate", "n"], "additionalProperties": false}"#,
    );
    let policy = Policy { space: Whitespace::Compact, ..Policy::default() };
    let mut constraint = Constraint::new(rules(&schema, policy));
    let mut matcher = constraint.start();
    let forced = constraint.forced(&matcher, 100);
    assert_eq!(String::from_utf8_lossy(&forced), r#"{"ReturnDate":"2024-01-01","n":"#);
    assert_eq!(constraint.advance_all(&mut matcher, &forced), forced.len());
    assert_eq!(constraint.advance_all(&mut matcher, b"12}"), 3);
    assert!(constraint.is_complete(&mut matcher));
    assert!(constraint.forced(&matcher, 100).is_empty());
}

#[test]
fn a_refusal_says_where_and_what_was_expected() {
    let schema = parsed(
        r#"{"type": "object", "properties": {"n": {"type": "integer", "minimum": 5, "maximum": 9}},
            "required": ["n"], "additionalProperties": false}"#,
    );
    let policy = Policy { space: Whitespace::Compact, ..Policy::default() };
    let mut constraint = Constraint::new(rules(&schema, policy));
    let explained: Vec<_> = [r#"{"n":4}"#, r#"{"m":1}"#, r#"{"n":7"#, r#"{"n":7}x"#, r#"{"n":7}"#]
        .map(|text| {
            constraint
                .test(text.as_bytes())
                .map_or_else(|refusal| refusal.to_string(), |()| "accepted".into())
        })
        .into();
    insta::assert_snapshot!(explained.join("\n"), @r#"
    byte 5: `4` cannot stand after `{"n":`; expected `5` to `9`
    byte 2: `m` cannot stand after `{"`; expected `n`
    byte 6: the text may not end after `{"n":7`; expected `}`
    byte 7: `x` cannot stand after `{"n":7}`; expected the end
    accepted
    "#);
}

#[test]
fn every_keyword_that_cannot_be_enforced_is_named() {
    let schema = parsed(
        r#"{"properties": {"a/b": {"pattern": "\\bx"}, "c": {"$ref": "https://example.com/x.json"}, "d": {"minLength": "3"}}}"#,
    );
    let unsupported = Rules::schema(&schema, LAX).expect_err("three keywords");
    let named: Vec<_> = unsupported.iter().map(|one| (one.keyword.as_str(), one.pointer.as_str())).collect();
    let expected = [
        ("pattern", "/properties/a~1b/pattern"),
        ("$ref", "/properties/c/$ref"),
        ("minLength", "/properties/d/minLength"),
    ];
    assert_eq!(named, expected);
}

#[test]
fn what_asks_nothing_is_noted_where_it_comes_first() {
    let schema = parsed(
        r#"{"$schema": "urn:mine", "title": "t", "type": "object", "nullable": true, "additionalItems": false,
            "properties": {"a": {"format": "color", "x-b": 1}, "c": {"nullable": true, "format": "date"}}}"#,
    );
    let notes: Vec<_> =
        rules(&schema, LAX).notes.iter().map(|note| format!("{}: {}", note.pointer, note.message)).collect();
    insta::assert_snapshot!(notes.join("\n"), @r"
    /$schema: `urn:mine` is not a draft known here: read as draft 2020-12, all of it
    /nullable: `nullable` is not a keyword of JSON Schema: it asks nothing
    /additionalItems: `additionalItems` has no meaning in this draft
    /properties/a/format: `color` is not asserted
    /properties/a/x-b: `x-b` is not a keyword of JSON Schema: it asks nothing
    ");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]

    /// From any reachable prefix, the mask is exactly what brute force finds, under every policy.
    #[test]
    fn masks_equal_brute_force_after_random_prefixes(seed: u64, which: prop::sample::Index, order: bool, space in 0..4usize, plain: bool) {
        let vocab = Arc::new(support::nasty_vocab());
        let tables = tables();
        let (name, table) = which.get(&tables);
        let policy = Policy {
            order: if order { MemberOrder::Any } else { MemberOrder::Schema },
            space: [Whitespace::Compact, Whitespace::Bounded, Whitespace::Ollama2025, Whitespace::Any][space],
            spelling: if plain { Spelling::Plain } else { Spelling::Any },
            ..LAX
        };
        let rules = rules(&parsed(&table.schema), policy);
        let mut allowed = Allowed::new(Arc::clone(&rules), Arc::clone(&vocab));
        let mut oracle = Constraint::new(rules);
        let mut rng = SmallRng::seed_from_u64(seed);
        let mut matcher = allowed.start();
        for _ in 0..25 {
            let mask: Vec<_> = allowed.mask(&mut matcher).iter().collect();
            prop_assert_eq!(&mask, &brute_force(&mut oracle, &vocab, matcher.text()), "{}", name);
            let text: Vec<_> = mask.into_iter().filter(|&token| !vocab.is_special(token)).collect();
            if text.is_empty() {
                break;
            }
            prop_assert!(allowed.advance(&mut matcher, text[rng.random_range(0..text.len())]));
        }
    }
    /// Any schema at all: the jsonschema crate says the same about values, and masks are what the matcher says.
    #[test]
    fn schemas_made_from_bytes_agree_with_their_oracles(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let vocab = Arc::new(support::nasty_vocab());
        let mut source = source::Source::new(&bytes);
        if let Some(mut trial) = trial::Trial::new(&source.document()) {
            trial.agree_on_a_value(&mut source);
            trial.write(&vocab, &mut source);
        }
    }
}
