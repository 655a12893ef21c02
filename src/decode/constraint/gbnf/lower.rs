//! Rules as written to rules over bytes: characters as UTF-8, repetitions as rules of their own. Checks only size and
//! names.

use regex_syntax::utf8::Utf8Sequences;
use rustc_hash::FxHashMap;

use super::GrammarError;
use super::syntax::{Alternatives, Item, Written};

/// A grammar may have so many positions, repetitions written out.
const MAX_NODES: usize = 200_000;

/// An index into [`Grammar::nodes`]: a place between bytes. The node after it is the next place of its sequence.
pub(super) type Pos = u32;
/// An index into [`Grammar::rules`].
pub(super) type RuleId = u32;

/// What comes at a position.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    /// One of these bytes.
    Bytes(ByteSet),
    /// What the rule matches.
    Call(RuleId),
    /// Nothing: the sequence ends.
    End,
}

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(super) fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    fn range(low: u8, high: u8) -> Self {
        let mut set = Self::default();
        (low..=high).for_each(|byte| set.0[usize::from(byte >> 6)] |= 1 << (byte & 63));
        set
    }

    fn or(self, other: Self) -> Self {
        Self(std::array::from_fn(|idx| self.0[idx] | other.0[idx]))
    }
}

/// Sequences over bytes and rules, one of which has to match.
#[derive(Debug)]
pub(super) struct Rule {
    /// Where each sequence begins.
    pub starts: Vec<Pos>,
    /// Which written rule it is, or is part of.
    pub origin: usize,
    /// For the rest of a repetition without upper bound: what it repeats and where that is written.
    pub repeats: Option<(Node, usize)>,
    /// Whether it matches the empty text.
    pub is_nullable: bool,
    /// Rules that this one may begin with have a higher rank.
    pub rank: u32,
}

/// A compiled grammar.
#[derive(Debug)]
pub(in crate::decode::constraint) struct Grammar {
    pub(super) nodes: Vec<Node>,
    pub(super) rules: Vec<Rule>,
    pub(super) root: RuleId,
}

/// The rules over bytes; written rules keep their index. `is_nullable` and `rank` are not known yet.
pub(super) fn lower(text: &str, written: &[Written]) -> Result<Grammar, GrammarError> {
    let mut lowering = Lowering {
        text,
        ids: FxHashMap::default(),
        classes: FxHashMap::default(),
        nodes: Vec::new(),
        rules: Vec::new(),
        n_repeated: 0,
        origin: 0,
    };
    for (id, rule) in written.iter().enumerate() {
        if let Some(first) = lowering.ids.insert(&rule.name, id as RuleId) {
            let line = GrammarError::at(text, written[first as usize].at, "", "").line;
            let wrong = format!("rule `{}` is there already, on line {line}", rule.name);
            return Err(GrammarError::at(text, rule.at, wrong, "one rule of each name"));
        }
        lowering.new_rule(id);
    }
    let Some(&root) = lowering.ids.get("root") else {
        let right = "a rule `root`, which says what the whole text has to be";
        return Err(GrammarError::at(text, text.len(), "there is no rule `root`", right));
    };
    for (id, rule) in written.iter().enumerate() {
        lowering.origin = id;
        lowering.fill(id as RuleId, &rule.body)?;
        if lowering.nodes.len() > MAX_NODES {
            let wrong = format!("with rule `{}` the grammar has more than {MAX_NODES} positions", rule.name);
            return Err(GrammarError::at(text, rule.at, wrong, "a smaller grammar"));
        }
    }
    Ok(Grammar { nodes: lowering.nodes, rules: lowering.rules, root })
}

struct Lowering<'t> {
    text: &'t str,
    ids: FxHashMap<&'t str, RuleId>,
    classes: FxHashMap<Vec<(char, char)>, RuleId>,
    nodes: Vec<Node>,
    rules: Vec<Rule>,
    /// Positions that repetitions take, those of sequences that are not added yet too.
    n_repeated: usize,
    origin: usize,
}

impl Lowering<'_> {
    fn new_rule(&mut self, origin: usize) -> RuleId {
        let id = self.rules.len() as RuleId;
        self.rules.push(Rule { starts: Vec::new(), origin, repeats: None, is_nullable: false, rank: 0 });
        id
    }

    /// Adds a sequence to a rule.
    fn add(&mut self, rule: RuleId, sequence: &[Node]) {
        self.rules[rule as usize].starts.push(self.nodes.len() as Pos);
        self.nodes.extend_from_slice(sequence);
        self.nodes.push(Node::End);
    }

    fn fill(&mut self, rule: RuleId, body: &Alternatives) -> Result<(), GrammarError> {
        for sequence in body {
            let mut nodes = Vec::new();
            for item in sequence {
                self.item(item, &mut nodes)?;
            }
            self.add(rule, &nodes);
        }
        Ok(())
    }

    fn item(&mut self, item: &Item, nodes: &mut Vec<Node>) -> Result<(), GrammarError> {
        match item {
            Item::Literal(text) => nodes.extend(text.bytes().map(|b| Node::Bytes(ByteSet::range(b, b)))),
            Item::Class(ranges) => nodes.push(self.class(ranges)),
            Item::Rule(name, at) => match self.ids.get(name.as_str()) {
                Some(&id) => nodes.push(Node::Call(id)),
                None => return Err(self.unknown(name, *at)),
            },
            Item::Group(body) => {
                let rule = self.new_rule(self.origin);
                self.fill(rule, body)?;
                nodes.push(Node::Call(rule));
            }
            Item::Repeat { item, min, max, at } => self.repeat(item, *min, *max, *at, nodes)?,
        }
        Ok(())
    }

    fn unknown(&self, name: &str, at: usize) -> GrammarError {
        let near = self.ids.keys().max_by(|a, b| {
            strsim::jaro_winkler(name, a).total_cmp(&strsim::jaro_winkler(name, b)).then(b.cmp(a))
        });
        let near = near.filter(|near| strsim::jaro_winkler(name, near) > 0.75);
        let right = near.map_or_else(
            || format!("a rule `{name} ::= …`"),
            |near| format!("`{near}`, or a rule `{name} ::= …`"),
        );
        GrammarError::at(self.text, at, format!("there is no rule `{name}`"), right)
    }

    /// One character: a byte, or a rule with the UTF-8 of the others.
    fn class(&mut self, ranges: &[(char, char)]) -> Node {
        let mut single = None;
        let mut longer = Vec::new();
        for sequence in ranges.iter().flat_map(|&(low, high)| Utf8Sequences::new(low, high)) {
            let sets: Vec<_> =
                sequence.as_slice().iter().map(|bytes| ByteSet::range(bytes.start, bytes.end)).collect();
            match sets[..] {
                [set] => single = Some(single.map_or(set, |other: ByteSet| other.or(set))),
                _ => longer.push(sets),
            }
        }
        if let (Some(set), true) = (single, longer.is_empty()) {
            return Node::Bytes(set);
        }
        if let Some(&known) = self.classes.get(ranges) {
            return Node::Call(known);
        }
        let rule = self.new_rule(self.origin);
        for sets in single.map(|set| vec![set]).into_iter().chain(longer) {
            self.add(rule, &sets.into_iter().map(Node::Bytes).collect::<Vec<_>>());
        }
        self.classes.insert(ranges.to_vec(), rule);
        Node::Call(rule)
    }

    /// `x{2,4}` as `x x (x (x)?)?`, `x{2,}` as `x x rest` with `rest ::= x rest | `.
    fn repeat(
        &mut self,
        item: &Item,
        min: u32,
        max: Option<u32>,
        at: usize,
        nodes: &mut Vec<Node>,
    ) -> Result<(), GrammarError> {
        let mut unit = Vec::new();
        self.item(item, &mut unit)?;
        let unit = if let [one] = unit[..] {
            one
        } else {
            let rule = self.new_rule(self.origin);
            self.add(rule, &unit);
            Node::Call(rule)
        };
        // An optional repetition takes a rule of four nodes.
        let n_optional = max.map_or(1, |max| max - min) as usize;
        self.n_repeated += min as usize + n_optional * 4;
        if self.n_repeated > MAX_NODES {
            let wrong =
                format!("with this repetition written out the grammar has more than {MAX_NODES} positions");
            return Err(GrammarError::at(self.text, at, wrong, "smaller numbers, or no upper one"));
        }
        nodes.extend(std::iter::repeat_n(unit, min as usize));
        let Some(max) = max else {
            let rest = self.new_rule(self.origin);
            self.rules[rest as usize].repeats = Some((unit, at));
            self.add(rest, &[unit, Node::Call(rest)]);
            self.add(rest, &[]);
            nodes.push(Node::Call(rest));
            return Ok(());
        };
        let mut rest = None;
        for _ in min..max {
            let rule = self.new_rule(self.origin);
            let sequence: Vec<_> = [unit].into_iter().chain(rest.map(Node::Call)).collect();
            self.add(rule, &sequence);
            self.add(rule, &[]);
            rest = Some(rule);
        }
        nodes.extend(rest.map(Node::Call));
        Ok(())
    }
}
