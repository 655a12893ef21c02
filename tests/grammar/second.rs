//! A second implementation of grammars, slow and plain: random ones, which of them are hopeless, and where matches end.

use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;

/// A grammar as the second implementation has it.
#[derive(Clone, Debug)]
pub(super) enum Ast {
    Literal(String),
    Class(bool, Vec<(char, char)>),
    Any,
    Rule(usize),
    Sequence(Vec<Ast>),
    Either(Vec<Ast>),
    Repeat(Box<Ast>, u32, Option<u32>),
}

pub(super) fn ast() -> impl Strategy<Value = Ast> {
    let letter = || prop::sample::select(vec!['a', 'b', 'c', 'é', 'ß', '"', '日', '😀']);
    let leaf = prop_oneof![
        4 => prop::collection::vec(letter(), 0..3).prop_map(|text| Ast::Literal(text.into_iter().collect())),
        2 => (any::<bool>(), prop::collection::vec((letter(), letter()), 1..3)).prop_map(|(negated, ranges)| {
            Ast::Class(negated, ranges.into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect())
        }),
        1 => Just(Ast::Any),
        3 => (0..3usize).prop_map(Ast::Rule),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 0..4).prop_map(Ast::Sequence),
            4 => prop::collection::vec(inner.clone(), 1..4).prop_map(Ast::Either),
            2 => (inner, 0..3u32, prop::option::of(0..3u32))
                .prop_map(|(item, min, more)| Ast::Repeat(Box::new(item), min, more.map(|more| min + more))),
        ]
    })
}

fn escaped(c: char) -> String {
    match c {
        'a' => "\\x61".to_owned(),
        'ß' => "\\u00df".to_owned(),
        '😀' => "\\U0001F600".to_owned(),
        '"' | '\\' | ']' | '[' | '-' => format!("\\{c}"),
        c => c.to_string(),
    }
}

fn written(ast: &Ast) -> String {
    let all = |parts: &[Ast], between: &str| parts.iter().map(written).collect::<Vec<_>>().join(between);
    match ast {
        Ast::Literal(text) => format!("\"{}\"", text.chars().map(escaped).collect::<String>()),
        Ast::Class(negated, ranges) => {
            let ranges = ranges.iter().map(|(low, high)| format!("{}-{}", escaped(*low), escaped(*high)));
            format!("[{}{}]", if *negated { "^" } else { "" }, ranges.collect::<String>())
        }
        Ast::Any => ".".to_owned(),
        Ast::Rule(0) => "root".to_owned(),
        Ast::Rule(n) => format!("r-{n}"),
        Ast::Sequence(parts) => format!("({})", all(parts, "\n ")),
        Ast::Either(parts) => format!("( {} )", all(parts, " | # or\n")),
        Ast::Repeat(item, 0, None) => format!("{}*", written(item)),
        Ast::Repeat(item, 1, None) => format!("{}+", written(item)),
        Ast::Repeat(item, 0, Some(1)) => format!("{}?", written(item)),
        Ast::Repeat(item, min, None) => format!("{}{{{min},}}", written(item)),
        Ast::Repeat(item, min, Some(max)) if min == max => format!("{}{{{min}}}", written(item)),
        Ast::Repeat(item, min, Some(max)) => format!("{}{{{min}, {max}}}", written(item)),
    }
}

pub(super) fn grammar_text(rules: &[Ast]) -> String {
    let rules = rules
        .iter()
        .enumerate()
        .map(|(n, body)| format!("{} ::= {}\n", written(&Ast::Rule(n)), written(body)));
    rules.collect()
}

/// Whether the text a part matches can be one where `leaf` says what leaves and `rules` what rules can match.
fn derivable(ast: &Ast, leaf: &dyn Fn(&Ast) -> bool, rules: &[bool]) -> bool {
    match ast {
        Ast::Rule(n) => rules[*n],
        Ast::Sequence(parts) => parts.iter().all(|part| derivable(part, leaf, rules)),
        Ast::Either(parts) => parts.iter().any(|part| derivable(part, leaf, rules)),
        Ast::Repeat(item, min, _) => *min == 0 || derivable(item, leaf, rules),
        ast => leaf(ast),
    }
}

fn fixpoint(rules: &[Ast], leaf: &dyn Fn(&Ast) -> bool) -> Vec<bool> {
    let mut found = vec![false; rules.len()];
    for _ in 0..=rules.len() {
        found = rules.iter().map(|body| derivable(body, leaf, &found)).collect();
    }
    found
}

/// Whether a stack machine could not follow the grammar, found the slow way.
pub(super) fn is_hopeless(rules: &[Ast]) -> bool {
    fn loops(ast: &Ast, is_empty: &dyn Fn(&Ast) -> bool) -> bool {
        match ast {
            Ast::Repeat(item, _, max) => (max.is_none() && is_empty(item)) || loops(item, is_empty),
            Ast::Sequence(parts) | Ast::Either(parts) => parts.iter().any(|part| loops(part, is_empty)),
            _ => false,
        }
    }
    fn begins(ast: &Ast, is_empty: &dyn Fn(&Ast) -> bool, found: &mut BTreeSet<usize>) {
        match ast {
            Ast::Rule(n) => drop(found.insert(*n)),
            Ast::Either(parts) => parts.iter().for_each(|part| begins(part, is_empty, found)),
            Ast::Sequence(parts) => {
                let n = parts.iter().take_while(|part| is_empty(part)).count();
                parts.iter().take(n + 1).for_each(|part| begins(part, is_empty, found));
            }
            Ast::Repeat(_, _, Some(0)) => {}
            Ast::Repeat(item, _, _) => begins(item, is_empty, found),
            _ => {}
        }
    }
    let empty_leaf = |leaf: &Ast| matches!(leaf, Ast::Literal(text) if text.is_empty());
    let nullable = fixpoint(rules, &empty_leaf);
    let is_empty = |part: &Ast| derivable(part, &empty_leaf, &nullable);
    let recurses = |start: usize| {
        let mut found = BTreeSet::new();
        begins(&rules[start], &is_empty, &mut found);
        for _ in 0..rules.len() {
            for n in found.clone() {
                begins(&rules[n], &is_empty, &mut found);
            }
        }
        found.contains(&start)
    };
    let endless = fixpoint(rules, &|_| true).contains(&false);
    endless || rules.iter().any(|body| loops(body, &is_empty)) || (0..rules.len()).any(recurses)
}

/// Where the matches of a part that begin at `at` end.
pub(super) fn ends(
    ast: &Ast,
    rules: &[Ast],
    text: &[char],
    at: usize,
    known: &mut HashMap<(usize, usize), BTreeSet<usize>>,
) -> BTreeSet<usize> {
    let one = |fits: bool| if fits { BTreeSet::from([at + 1]) } else { BTreeSet::new() };
    match ast {
        Ast::Literal(wanted) => {
            let n = wanted.chars().count();
            let found = text[at..].iter().take(n).copied().eq(wanted.chars());
            if found { BTreeSet::from([at + n]) } else { BTreeSet::new() }
        }
        Ast::Class(negated, ranges) => {
            let is_in = |c: &char| ranges.iter().any(|(low, high)| (low..=high).contains(&c));
            one(text.get(at).is_some_and(|c| is_in(c) != *negated))
        }
        Ast::Any => one(at < text.len()),
        Ast::Rule(n) => {
            if !known.contains_key(&(*n, at)) {
                let found = ends(&rules[*n], rules, text, at, known);
                known.insert((*n, at), found);
            }
            known[&(*n, at)].clone()
        }
        Ast::Sequence(parts) => parts.iter().fold(BTreeSet::from([at]), |from, part| {
            from.into_iter().flat_map(|at| ends(part, rules, text, at, known)).collect()
        }),
        Ast::Either(parts) => parts.iter().flat_map(|part| ends(part, rules, text, at, known)).collect(),
        Ast::Repeat(item, min, max) => {
            let mut level = BTreeSet::from([at]);
            let mut found = BTreeSet::new();
            let max = max.unwrap_or(min + text.len() as u32);
            for n in 0..=max {
                if n >= *min {
                    found.extend(level.iter().copied());
                }
                if n == max {
                    break;
                }
                level = level.into_iter().flat_map(|at| ends(item, rules, text, at, known)).collect();
            }
            found
        }
    }
}
