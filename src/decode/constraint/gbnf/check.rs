//! What no stack could follow is refused: left recursion, loops over the empty text, rules that never end. Also finds
//! which rules may be empty and in which order they are to be expanded.

use super::GrammarError;
use super::lower::{Grammar, Node, RuleId};
use super::syntax::Written;

/// Fills in what [`super::lower`] leaves open.
pub(super) fn check(text: &str, written: &[Written], grammar: &mut Grammar) -> Result<(), GrammarError> {
    let error = |rule: RuleId, wrong: &dyn Fn(&str) -> String, right: &str| {
        let origin = &written[grammar.rules[rule as usize].origin];
        GrammarError::at(text, origin.at, wrong(&origin.name), right)
    };
    let ends = derivable(grammar, |node| matches!(node, Node::Bytes(_)));
    if let Some(endless) = endless(grammar, &ends) {
        let wrong = |name: &str| format!("rule `{name}` never ends: each of its alternatives needs it again");
        return Err(error(endless, &wrong, "an alternative that does not"));
    }
    let nullable = derivable(grammar, |_| false);
    let may_be_empty = |node| matches!(node, Node::Call(rule) if nullable[rule as usize]);
    for rule in &grammar.rules {
        if let Some((_, at)) = rule.repeats.filter(|(unit, _)| may_be_empty(*unit)) {
            let name = &written[rule.origin].name;
            let wrong = format!("in rule `{name}`, what is repeated without end may be empty");
            return Err(GrammarError::at(text, at, wrong, "something that takes at least one character"));
        }
    }
    let ranks = ranks(grammar, &nullable).map_err(|rule| {
        let wrong = |name: &str| format!("rule `{name}` may begin with itself (left recursion)");
        error(rule, &wrong, "the recursion at the end, or a repetition: `list ::= item (\",\" item)*`")
    })?;
    for (id, rule) in grammar.rules.iter_mut().enumerate() {
        rule.is_nullable = nullable[id];
        rule.rank = ranks[id];
    }
    Ok(())
}

/// A rule that needs itself, if there is a rule that never ends: followed from one to the next that it needs.
fn endless(grammar: &Grammar, ends: &[bool]) -> Option<RuleId> {
    let mut at = ends.iter().position(|&ends| !ends)? as RuleId;
    let mut seen = vec![false; ends.len()];
    while !std::mem::replace(&mut seen[at as usize], true) {
        let sequence = &grammar.nodes[grammar.rules[at as usize].starts[0] as usize..];
        let needs = |node: &Node| match node {
            Node::Call(rule) if !ends[*rule as usize] => Some(*rule),
            _ => None,
        };
        at = sequence.iter().find_map(needs).expect("a rule that never ends needs another such rule");
    }
    Some(at)
}

/// Which rules have a sequence of nothing but nodes that hold and rules of which the same is true. Linear in the
/// grammar's size: each sequence waits for its calls one by one.
fn derivable(grammar: &Grammar, holds: impl Fn(&Node) -> bool) -> Vec<bool> {
    let mut found = vec![false; grammar.rules.len()];
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); grammar.rules.len()];
    let mut sequences: Vec<(usize, usize)> = Vec::new();
    let mut new = Vec::new();
    for (id, rule) in grammar.rules.iter().enumerate() {
        for &start in &rule.starts {
            let sequence = &grammar.nodes[start as usize..];
            let mut nodes = sequence.iter().take_while(|node| !matches!(node, Node::End));
            let mut calls = Vec::new();
            let good = nodes.all(|node| match node {
                Node::Call(called) => {
                    calls.push(*called as usize);
                    true
                }
                node => holds(node),
            });
            if good {
                let n_calls = calls.len();
                for called in calls {
                    waiting[called].push(sequences.len());
                }
                sequences.push((id, n_calls));
                new.extend((n_calls == 0).then_some(id));
            }
        }
    }
    while let Some(rule) = new.pop() {
        if std::mem::replace(&mut found[rule], true) {
            continue;
        }
        for &sequence in &waiting[rule] {
            let (owner, n_calls) = &mut sequences[sequence];
            *n_calls -= 1;
            new.extend((*n_calls == 0).then_some(*owner));
        }
    }
    found
}

/// A number for each rule that is higher than those of the rules that may begin with it; else a written rule that may
/// begin with itself, if there is one on the way.
fn ranks(grammar: &Grammar, nullable: &[bool]) -> Result<Vec<u32>, RuleId> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done(u32),
    }
    let mut marks = vec![Mark::New; grammar.rules.len()];
    let mut n_done = 0;
    for rule in 0..grammar.rules.len() as RuleId {
        let mut path = vec![(rule, beginnings(grammar, nullable, rule))];
        if marks[rule as usize] != Mark::New {
            continue;
        }
        marks[rule as usize] = Mark::Open;
        while let Some((open, rest)) = path.last_mut() {
            let Some(next) = rest.pop() else {
                marks[*open as usize] = Mark::Done(n_done);
                n_done += 1;
                path.pop();
                continue;
            };
            match marks[next as usize] {
                Mark::Done(_) => {}
                Mark::Open => {
                    let on_way: Vec<RuleId> =
                        path.iter().map(|(rule, _)| *rule).skip_while(|rule| *rule != next).collect();
                    let is_written = |rule: &RuleId| grammar.rules[*rule as usize].origin == *rule as usize;
                    return Err(on_way.iter().copied().find(|rule| is_written(rule)).unwrap_or(next));
                }
                Mark::New => {
                    marks[next as usize] = Mark::Open;
                    path.push((next, beginnings(grammar, nullable, next)));
                }
            }
        }
    }
    let rank = |mark: Mark| match mark {
        Mark::Done(order) => n_done - order,
        Mark::New | Mark::Open => 0,
    };
    Ok(marks.into_iter().map(rank).collect())
}

/// The rules that a rule may begin with.
fn beginnings(grammar: &Grammar, nullable: &[bool], rule: RuleId) -> Vec<RuleId> {
    let mut found = Vec::new();
    for &start in &grammar.rules[rule as usize].starts {
        for node in &grammar.nodes[start as usize..] {
            let Node::Call(called) = node else { break };
            found.push(*called);
            if !nullable[*called as usize] {
                break;
            }
        }
    }
    found
}
