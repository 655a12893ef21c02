//! Grammars against oracles: tables, brute force over every token, and a recogniser that backtracks.

mod second;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use nightjar::decode::allowed::Allowed;
use nightjar::decode::constraint::{Constraint, Rules};
use nightjar::decode::vocab::TokenId;
use proptest::prelude::*;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use super::{accepts, brute_force, support};
use second::{Ast, ast, ends, grammar_text, is_hopeless};

/// One file of `tests/grammar/gbnf`: a grammar, or the name of a shipped one, texts it accepts and texts it refuses.
#[derive(serde::Deserialize)]
struct Table {
    grammar: Option<String>,
    file: Option<String>,
    accept: Vec<String>,
    reject: Vec<String>,
}

impl Table {
    fn text(&self) -> String {
        let shipped = |name: &String| shipped(name);
        self.grammar.clone().or(self.file.as_ref().map(shipped)).expect("a grammar or a file")
    }
}

fn shipped(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("grammars").join(name).with_extension("gbnf");
    std::fs::read_to_string(path).expect("a shipped grammar")
}

fn tables() -> Vec<(String, Table)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/grammar/gbnf");
    let entries = std::fs::read_dir(folder).expect("tests/grammar/gbnf");
    let mut tables: Vec<_> = entries
        .map(|entry| {
            let path = entry.expect("entry").path();
            let name = path.file_stem().expect("name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("readable");
            (name.clone(), toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")))
        })
        .collect();
    tables.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(tables.len() >= 8, "the tables are there");
    tables
}

fn rules(text: &str) -> Arc<Rules> {
    Arc::new(Rules::grammar(text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

#[test]
fn tables_hold() {
    for (name, table) in tables() {
        let mut constraint = Constraint::new(rules(&table.text()));
        assert!(!table.accept.is_empty() && !table.reject.is_empty(), "{name} needs both lists");
        for text in &table.accept {
            let (accepted, n) = accepts(&mut constraint, text);
            assert!(accepted, "{name} refuses {text:?} after {n} bytes");
        }
        for text in &table.reject {
            assert!(!accepts(&mut constraint, text).0, "{name} accepts {text:?}");
        }
    }
}

#[test]
fn masks_equal_brute_force_on_the_way_through_every_accepted_text() {
    let vocab = Arc::new(support::nasty_vocab());
    for (name, table) in tables() {
        let rules = rules(&table.text());
        let mut allowed = Allowed::new(Arc::clone(&rules), Arc::clone(&vocab));
        let mut oracle = Constraint::new(rules);
        for text in &table.accept {
            let mut matcher = allowed.start();
            for (n, &byte) in text.as_bytes().iter().enumerate() {
                let mask: Vec<_> = allowed.mask(&mut matcher).iter().collect();
                let expected = brute_force(&mut oracle, &vocab, &text.as_bytes()[..n]);
                assert_eq!(mask, expected, "{name}: byte {n} of {text:?}");
                assert!(allowed.advance(&mut matcher, TokenId(u32::from(byte))), "{name}: {text:?} at {n}");
            }
            assert!(
                vocab.ends().iter().all(|&end| allowed.mask(&mut matcher).allows(end)),
                "{name}: {text:?}"
            );
        }
        let (asked, known) = allowed.cache_hits();
        assert!(known > 0 || asked < 8, "{name}: a state met again has its mask: {known} of {asked}");
    }
}

#[test]
fn what_is_wrong_with_a_grammar_is_said_with_its_place() {
    let grammars = [
        "",
        "start ::= \"a\"",
        "root ::= \"a\" other\nothr ::= \"b\"",
        "root ::= \"a\"\nroot ::= \"b\"",
        "root ::= item\nitem ::= part item\npart ::= item \"x\" | \"\"",
        "root ::= item\nitem ::= part item | \"i\"\npart ::= item \"x\" | \"\"",
        "root ::= root \"a\" | \"b\"",
        "root ::= \"a\" | tail\n\ntail ::= (\"b\"? \"c\"*)*",
        "root ::= \"a\" ([b]?)+",
        "root ::= \"a\" | more\nmore ::= \"m\" more",
        "root ::= \"a\"\n  | \"b\"",
        "root ::= \"a\" \"b",
        "root ::= [ab",
        "root ::= []",
        "root ::= [^]",
        "root ::= \"a\"\rb ::= \"b\" c",
        "\u{feff}root ::= c\r\n",
        "\u{feff}\r\nroot ::= \r\n c",
        "root ::= \"a\" : \"b\"",
        "root ::= [z-a]",
        "root ::= \"\\q\"",
        "root ::= \"é\\u12\"",
        "root ::= \"\\U00110000\" | \"\\ud800\"",
        "root ::= \"\\ud800\"",
        "root ::= (\"a\" | \"b\"\nb ::= \"c\"",
        "root ::= \"a\")",
        "root = \"a\"",
        "root ::= * \"a\"",
        "root ::= \"a\"{3,2}",
        "root ::= \"a\"{,2}",
        "root ::= \"a\"{2",
        "root ::= \"a\"{1000000}",
        "root ::= (\"a\"{60000}){10} [ab]{90000} [ab]{90000} [ab]{90000}",
        "root ::= \"a\"{100000} (\"a\"{100000} (\"a\"{100000} (\"a\"{100000} (\"a\"{100000} (\"a\"{100000} (\"a\"{100000} (\"a\"{100000} \"b\")))))))",
        "root ::= \"a\"?{2}?",
        "root ::= \"a\"*+?*",
        "root ::= <think> \"a\"",
        "root ::= !<[12]>",
        "root ::= \"a\" & \"b\"",
        "a ::=\nroot ::= \"b\"",
        "1 2 3",
        "root ::= ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((",
    ];
    let long = [
        format!("root ::= \"a\"{}", "?".repeat(20_000)),
        format!("root ::= {}\nlong ::= {}", "\"ab\" ".repeat(50_000), "\"ab\" ".repeat(60_000)),
    ];
    let explained: Vec<_> = grammars
        .iter()
        .copied()
        .chain(long.iter().map(String::as_str))
        .map(|text| Rules::grammar(text).map_or_else(|error| error.to_string(), |_| format!("good: {text}")))
        .collect();
    insta::assert_snapshot!(explained.join("\n"));
}

/// A text that leaves the remembered states full many times over; and grammars whose stacks would be countless.
#[test]
fn neither_long_texts_nor_ambiguity_are_too_much() {
    for (grammar, text) in [
        ("root ::= \"a\"{0,30000}".to_owned(), "a".repeat(30_000)),
        (
            "root ::= s\ns ::= \"a\" s \"b\" | \"a\" s \"c\" | \"a\"".to_owned(),
            format!("{}b{}", "a".repeat(150), "bc".repeat(74)),
        ),
        ("root ::= (\"a\"?){0,30000}".to_owned(), "a".repeat(3)),
        ("root ::= (\"a\"?){30000}".to_owned(), "a".repeat(3)),
        (
            (0..100).fold("root ::= \"a\"".to_owned(), |text, _| {
                format!("{}???", text.replacen("::= ", "::= (", 1) + ")")
            }),
            "a".to_owned(),
        ),
        ("root ::= s\ns ::= \"a\" s s | \"a\" s | \"a\"".to_owned(), "a".repeat(120)),
        (
            "root ::= s\ns ::= \"a\" s \"b\"? | \"a\"".to_owned(),
            format!("{}{}", "a".repeat(600), "b".repeat(300)),
        ),
        (
            (0..24).fold("root ::= r0".to_owned(), |text, n| {
                format!("{text}\nr{n} ::= r{m} \"a\" | r{m} \"b\" | r{m} \"a\" \"a\"", m = n + 1)
            }) + "\nr24 ::= \"c\"",
            format!("c{}", "ab".repeat(12)),
        ),
    ] {
        let mut constraint = Constraint::new(rules(&grammar));
        assert_eq!(
            constraint.test(text.as_bytes()).map_err(|refusal| refusal.to_string()),
            Ok(()),
            "{grammar}"
        );
    }
}

#[test]
fn the_json_grammar_agrees_with_a_parser() {
    let mut constraint = Constraint::new(rules(&shipped("json")));
    let mut rng = SmallRng::seed_from_u64(5);
    let good = r#"{"a": [1, -2.5e3, null], "\u00e9\ud83d\ude00": {"b": true, "c": "x\n\"y"}, "é": false, "n": 0.25}"#;
    let pieces = [
        "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "1", "e", "-", ".", " ", "u", "\n", "d8", "null", "é",
    ];
    let mut n_good = 0;
    for _ in 0..3000 {
        let mut chars: Vec<String> = good.chars().map(String::from).collect();
        for _ in 0..rng.random_range(0..4) {
            let at = rng.random_range(0..chars.len());
            match rng.random_range(0..3) {
                0 => drop(chars.remove(at)),
                1 => chars.insert(at, pieces[rng.random_range(0..pieces.len())].into()),
                _ => chars[at] = pieces[rng.random_range(0..pieces.len())].into(),
            }
        }
        let text = chars.concat();
        let valid = serde_json::from_str::<Value>(&text).is_ok_and(|value| value.is_object());
        n_good += u32::from(valid);
        assert_eq!(accepts(&mut constraint, &text).0, valid, "{text}");
    }
    assert!((500..2500).contains(&n_good), "{n_good}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random grammars: refused for a reason, or the same texts accepted as by backtracking.
    #[test]
    fn a_recogniser_that_backtracks_agrees(
        bodies in prop::collection::vec(ast(), 3),
        texts in prop::collection::vec("[abcéß\"日]{0,7}", 12),
        seed: u64,
    ) {
        let text = grammar_text(&bodies);
        let compiled = Rules::grammar(&text);
        prop_assert_eq!(compiled.is_err(), is_hopeless(&bodies), "{:?}\n{}", compiled.err(), text);
        let Ok(rules) = compiled else { return Ok(()) };
        let rules = Arc::new(rules);
        let mut constraint = Constraint::new(Arc::clone(&rules));
        let mut compare = |wanted: &str| {
            let chars: Vec<char> = wanted.chars().collect();
            let expected = ends(&Ast::Rule(0), &bodies, &chars, 0, &mut HashMap::new()).contains(&chars.len());
            prop_assert_eq!(accepts(&mut constraint, wanted).0, expected, "{:?}\n{}", wanted, text);
            Ok(())
        };
        for wanted in &texts {
            compare(wanted)?;
        }
        // Random walks find texts that are accepted, which random texts seldom are; masks on the way are compared.
        let vocab = Arc::new(support::nasty_vocab());
        let mut allowed = Allowed::new(Arc::clone(&rules), Arc::clone(&vocab));
        let mut oracle = Constraint::new(rules);
        let mut rng = SmallRng::seed_from_u64(seed);
        let mut matcher = allowed.start();
        for _ in 0..8 {
            let mask: Vec<_> = allowed.mask(&mut matcher).iter().collect();
            prop_assert_eq!(&mask, &brute_force(&mut oracle, &vocab, matcher.text()), "{}", text);
            if let Ok(written) = str::from_utf8(matcher.text()) {
                compare(written)?;
            }
            let text: Vec<_> = mask.into_iter().filter(|&token| !vocab.is_special(token)).collect();
            if text.is_empty() {
                break;
            }
            prop_assert!(allowed.advance(&mut matcher, text[rng.random_range(0..text.len())]));
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "(root ::= )?[\\[\\](){}|*+?.,^\"\\\\a-f0-9xuU:=<>! \n\r\t#é😀-]{0,60}") {
        // What matters is that it comes back.
        drop(Rules::grammar(&text));
    }

    #[test]
    fn no_damage_to_a_grammar_makes_the_parser_panic(which: prop::sample::Index, cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..4u8, "[\\[\\](){}|*+?\"\\\\a:=\n-]"), 1..6)) {
        let tables = tables();
        let mut chars: Vec<char> = which.get(&tables).1.text().chars().collect();
        for (at, what, piece) in cuts {
            if chars.is_empty() {
                break;
            }
            let at = at.index(chars.len());
            match what {
                0 => drop(chars.remove(at)),
                1 => chars.truncate(at.max(1)),
                _ => chars.insert(at, piece.chars().next().expect("one character")),
            }
        }
        drop(Rules::grammar(&chars.into_iter().collect::<String>()));
    }
}
