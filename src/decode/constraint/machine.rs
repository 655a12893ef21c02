//! The automaton over one value: interned states, cached edges, and the dispatch of a byte to the state's own rules.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::children::Goals;
use super::expr::ExprId;
use super::gbnf::Stacks;
use super::leaf::{Kind, NameId};
use super::local::{Edge, Id, Interned, Local, LocalId, Name, Names, Object, Outcome, Place};
use super::mentioned::Mentioned;
use super::plan::{Plan, Roster};
use super::policy::Policy;
use super::rules::Rules;
use super::sharing::Likeness;
use super::space::Space;
use super::tables::Graph;

/// Beyond so many bytes no further state is found: what is written so far is too much for these rules.
const SPENT: usize = 512 << 20;

/// States of values and the edges between them, found as they are asked for.
#[derive(Debug)]
pub(super) struct Machine {
    pub graph: Graph,
    pub policy: Policy,
    pub(super) locals: Interned<Local>,
    pub(super) goals: Interned<Goals>,
    pub(super) objects: Interned<Object>,
    pub(super) orders: Interned<Vec<NameId>>,
    pub(super) residuals: Interned<Vec<ExprId>>,
    pub(super) verdicts: Interned<Vec<bool>>,
    pub(super) names: Interned<Names>,
    pub(super) outcomes: Interned<Outcome>,
    pub(super) plans: FxHashMap<u32, Arc<Plan>>,
    pub(super) rosters: FxHashMap<u32, Arc<Roster>>,
    pub(super) mentioned: FxHashMap<u32, Arc<Mentioned>>,
    /// Whether a member of this name can follow these goals.
    pub(super) offered: FxHashMap<(u32, NameId), bool>,
    /// Whether a member of this name, or of none that is mentioned, meets the schema a table gives it.
    pub(super) possible: FxHashMap<(u32, Option<NameId>), bool>,
    named: FxHashMap<(LocalId, Id<Outcome>), Option<LocalId>>,
    pub(super) others_alive: FxHashMap<(u32, Id<Vec<ExprId>>), bool>,
    pub(super) alike: Interned<Likeness>,
    pub(super) likenesses: Vec<u32>,
    /// Whether plain characters change nothing, by state.
    pub(super) steady: Vec<u8>,
    rows: Vec<Option<Box<[u32; 256]>>>,
    pushes: Interned<(LocalId, LocalId)>,
    resumed: FxHashMap<Resumption, Option<LocalId>>,
    /// With a grammar instead of a schema: where its texts may stand.
    stacks: Option<Stacks>,
    /// Bytes of lists that have an entry for each of a schema's names.
    pub(super) n_named: usize,
    start: LocalId,
}

/// A value that waits, the verdicts on its child, and whether the child repeats an item.
type Resumption = (LocalId, Id<Vec<bool>>, bool);

/// Edges are cached as numbers: what they do in the low bits, where they lead above.
mod cell {
    pub(super) const UNKNOWN: u32 = 0;
    pub(super) const DEAD: u32 = 1;
    pub(super) const GO: u32 = 2;
    pub(super) const NAMED: u32 = 3;
    pub(super) const PUSH: u32 = 4;
    pub(super) const POP: u32 = 5;
    pub(super) const POP_THEN: u32 = 6;
    pub(super) const BITS: u32 = 3;
}

impl Machine {
    /// A machine at the start of the rules' text.
    pub(super) fn new(rules: &Rules) -> Self {
        let mut machine = Self {
            graph: rules.graph.clone(),
            policy: rules.policy,
            locals: Interned::default(),
            goals: Interned::default(),
            objects: Interned::default(),
            orders: Interned::default(),
            residuals: Interned::default(),
            verdicts: Interned::default(),
            names: Interned::default(),
            outcomes: Interned::default(),
            plans: FxHashMap::default(),
            rosters: FxHashMap::default(),
            mentioned: FxHashMap::default(),
            offered: FxHashMap::default(),
            possible: FxHashMap::default(),
            named: FxHashMap::default(),
            others_alive: FxHashMap::default(),
            alike: Interned::default(),
            likenesses: Vec::new(),
            steady: Vec::new(),
            rows: Vec::new(),
            pushes: Interned::default(),
            resumed: FxHashMap::default(),
            stacks: None,
            n_named: 0,
            start: 0,
        };
        machine.start = match &rules.grammar {
            // Not even white space is offered before a value that nothing can be.
            None if !machine.graph.satisfiable(rules.root) => machine.stuck(),
            None => {
                let goals = machine.goals.id(Goals::only(rules.root));
                machine.local(Local::Value { goals, space: Space::at_start(rules.policy.space) })
            }
            Some(grammar) => {
                let (stacks, start) = Stacks::new(Arc::clone(grammar));
                machine.stacks = Some(stacks);
                machine.local(Local::Grammar(start))
            }
        };
        machine
    }

    /// The state before the first byte.
    pub(super) fn start(&self) -> LocalId {
        self.start
    }

    /// Whether no further state is found.
    pub(super) fn is_spent(&self) -> bool {
        self.n_bytes() > SPENT
    }

    /// Bytes of states and of all that is remembered about them, roughly.
    pub(super) fn n_bytes(&self) -> usize {
        // A state with its row of edges; goals, plans and the like come with states.
        const PER_STATE: usize = 1_280;
        let n_of_stacks = self.stacks.as_ref().map_or(0, Stacks::n_bytes);
        let n_states = self.locals.len() + self.objects.len() + self.goals.len();
        n_states * PER_STATE + n_of_stacks + self.n_named + self.graph.n_bytes()
    }

    /// A state that no byte leads out of.
    pub(super) fn stuck(&mut self) -> LocalId {
        let goals = self.goals.id(Goals::only(super::expr::FALSE));
        self.local(Local::Item { goals, compares: false })
    }

    /// Where a byte leads.
    pub(super) fn edge(&mut self, local: LocalId, byte: u8) -> Edge {
        if let Some(Some(row)) = self.rows.get(local as usize) {
            let cell = row[byte as usize];
            if cell != cell::UNKNOWN {
                return self.decode(cell);
            }
        }
        self.new_edge(local, byte)
    }

    #[cold]
    fn new_edge(&mut self, local: LocalId, byte: u8) -> Edge {
        if self.is_spent() {
            return Edge::Dead;
        }
        if self.rows.len() <= local as usize {
            self.rows.resize(self.locals.len(), None);
        }
        if self.rows[local as usize].is_none() {
            // Where hardly any byte can follow, trying them all would cost as much as a mask.
            let row = match self.live_bytes(local) {
                Some(live) => std::array::from_fn(|byte| if live[byte] { cell::UNKNOWN } else { cell::DEAD }),
                None => [cell::UNKNOWN; 256],
            };
            let is_dead = row[byte as usize] == cell::DEAD;
            self.rows[local as usize] = Some(Box::new(row));
            if is_dead {
                return Edge::Dead;
            }
        }
        let edge = self.find_edge(local, byte);
        let cell = self.encode(edge);
        let alike = self.alike_bytes(local, byte);
        if let Some(row) = &mut self.rows[local as usize] {
            row[usize::from(*alike.start())..=usize::from(*alike.end())].fill(cell);
        }
        edge
    }

    fn decode(&self, cell: u32) -> Edge {
        let to = cell >> cell::BITS;
        match cell & ((1 << cell::BITS) - 1) {
            cell::GO => Edge::Go(to),
            cell::NAMED => Edge::Named { outcome: Id::new(to) },
            cell::PUSH => {
                let (waiting, child) = **self.pushes.get(Id::new(to));
                Edge::Push { waiting, child }
            }
            cell::POP => Edge::Pop { verdicts: Id::new(to) },
            cell::POP_THEN => Edge::PopThen { verdicts: Id::new(to) },
            _ => Edge::Dead,
        }
    }

    fn encode(&mut self, edge: Edge) -> u32 {
        let (kind, to) = match edge {
            Edge::Dead => (cell::DEAD, 0),
            Edge::Go(to) => (cell::GO, to),
            Edge::Named { outcome } => (cell::NAMED, outcome.idx),
            Edge::Push { waiting, child } => (cell::PUSH, self.pushes.id((waiting, child)).idx),
            Edge::Pop { verdicts } => (cell::POP, verdicts.idx),
            Edge::PopThen { verdicts } => (cell::POP_THEN, verdicts.idx),
        };
        kind | to << cell::BITS
    }

    fn find_edge(&mut self, local: LocalId, byte: u8) -> Edge {
        let state = Arc::clone(self.locals.get(Id::new(local)));
        match &*state {
            Local::Value { goals, space } => match self.space(*space, byte) {
                Some(space) => self.go(Local::Value { goals: *goals, space }),
                None => self.begin_value(*goals, byte).map_or(Edge::Dead, Edge::Go),
            },
            Local::Word { word, at, verdicts } => self.word_edge(*word, *at, *verdicts, byte),
            Local::Number { goals, digits, form, text } => {
                self.number_edge(*goals, *digits, *form, text, byte)
            }
            Local::Text { goals, lex } => self.text_edge(*goals, *lex, byte),
            Local::Object { object, place, space } => self.object_edge(*object, *place, *space, byte),
            Local::Name(name) => self.name_edge(name, byte),
            Local::Colon { waiting, child, space } => match (byte, self.space(*space, byte)) {
                (_, Some(space)) => self.go(Local::Colon { waiting: *waiting, child: *child, space }),
                (b':', None) => {
                    let child = self.local(Local::Value { goals: *child, space: Space::default() });
                    Edge::Push { waiting: *waiting, child }
                }
                _ => Edge::Dead,
            },
            Local::Array { goals, place, space } => self.array_edge(*goals, *place, *space, byte),
            Local::Naming { .. } | Local::Member { .. } | Local::Item { .. } => Edge::Dead,
            Local::Done { space } => {
                let space = self.space(*space, byte).filter(|_| self.trailing_space());
                space.map_or(Edge::Dead, |space| self.go(Local::Done { space }))
            }
            Local::Grammar(set) => {
                let next = self.stacks.as_mut().and_then(|stacks| stacks.step(*set, byte));
                next.map_or(Edge::Dead, |next| self.go(Local::Grammar(next)))
            }
        }
    }

    /// Where a value that waited for a child goes on; `repeats` when the child is an item equal to an earlier one.
    pub(super) fn resume(
        &mut self,
        waiting: LocalId,
        verdicts: Id<Vec<bool>>,
        repeats: bool,
    ) -> Option<LocalId> {
        if let Some(&known) = self.resumed.get(&(waiting, verdicts, repeats)) {
            return known;
        }
        let state = Arc::clone(self.locals.get(Id::new(waiting)));
        let list = Arc::clone(self.verdicts.get(verdicts));
        let next = match &*state {
            Local::Member { object } => self.resume_object(*object, &list),
            Local::Item { goals, .. } => self.resume_array(*goals, &list, repeats),
            _ => None,
        };
        self.resumed.insert((waiting, verdicts, repeats), next);
        next
    }

    /// Where an object goes on after a name.
    pub(super) fn named(&mut self, waiting: LocalId, outcome: Id<Outcome>) -> Option<LocalId> {
        if let Some(&known) = self.named.get(&(waiting, outcome)) {
            return known;
        }
        let next = match **self.locals.get(Id::new(waiting)) {
            Local::Naming { object } => self.after_name(object, outcome),
            _ => None,
        };
        self.named.insert((waiting, outcome), next);
        next
    }

    /// Whether a name that is not mentioned ended, which must not have come before.
    pub(super) fn is_other(&self, outcome: Id<Outcome>) -> bool {
        matches!(**self.outcomes.get(outcome), Outcome::Other(_))
    }

    /// Whether it matters if the item being written equals an earlier one.
    pub(super) fn compares(&self, waiting: LocalId) -> bool {
        matches!(**self.locals.get(Id::new(waiting)), Local::Item { compares: true, .. })
    }

    /// Whether the text stands between tokens of JSON.
    pub(super) fn is_between(&self, local: LocalId) -> bool {
        self.locals.get(Id::new(local)).is_structural()
    }

    /// The state after the whole text.
    pub(super) fn done(&mut self) -> LocalId {
        self.local(Local::Done { space: Space::default() })
    }

    /// Whether the text may end in this state of its outermost value.
    pub(super) fn may_end(&mut self, local: LocalId) -> bool {
        match &*Arc::clone(self.locals.get(Id::new(local))) {
            Local::Done { .. } => true,
            Local::Number { goals, digits, text, .. } => self.number_end(*goals, *digits, text).is_some(),
            Local::Grammar(set) => self.stacks.as_ref().is_some_and(|stacks| stacks.may_end(*set)),
            _ => false,
        }
    }

    /// Whether nothing but white space can follow.
    pub(super) fn is_done(&self, local: LocalId) -> bool {
        match **self.locals.get(Id::new(local)) {
            Local::Done { .. } => true,
            Local::Grammar(set) => self.stacks.as_ref().is_some_and(|stacks| stacks.is_done(set)),
            _ => false,
        }
    }

    pub(super) fn space(&self, space: Space, byte: u8) -> Option<Space> {
        space.step(byte, self.policy.space)
    }

    fn trailing_space(&self) -> bool {
        self.policy.space == super::policy::Whitespace::Any
    }

    pub(super) fn local(&mut self, local: Local) -> LocalId {
        self.locals.id(local).idx
    }

    pub(super) fn go(&mut self, local: Local) -> Edge {
        Edge::Go(self.local(local))
    }

    /// The state after a value's first byte.
    pub(super) fn begin_value(&mut self, goals: Id<Goals>, byte: u8) -> Option<LocalId> {
        let kind = match byte {
            b'n' => Kind::Null,
            b'f' => Kind::False,
            b't' => Kind::True,
            b'-' | b'0'..=b'9' => Kind::Number,
            b'"' => Kind::Text,
            b'[' => Kind::Array,
            b'{' => Kind::Object,
            _ => return None,
        };
        let goals = Arc::clone(self.goals.get(goals));
        let goals = self.graph.change(&goals, &mut |graph, id| graph.open(id, kind))?;
        match kind {
            Kind::Null | Kind::False | Kind::True => {
                let verdicts = self.graph.finish(&goals, &|_| false)?;
                let verdicts = self.verdicts.id(verdicts);
                Some(self.local(Local::Word { word: kind, at: 1, verdicts }))
            }
            Kind::Number => self.begin_number(&goals, byte),
            Kind::Text => self.begin_text(goals),
            Kind::Array => {
                let goals = self.goals.id(goals);
                let local = Local::Array { goals, place: Place::Open, space: Space::default() };
                (self.array_end(goals).is_some() || self.next_item(goals).is_some())
                    .then(|| self.local(local))
            }
            Kind::Object => self.begin_object(goals),
        }
    }

    fn word_edge(&mut self, word: Kind, at: u8, verdicts: Id<Vec<bool>>, byte: u8) -> Edge {
        let letters: &[u8] = match word {
            Kind::Null => b"null",
            Kind::True => b"true",
            _ => b"false",
        };
        match usize::from(at) {
            at if letters[at] != byte => Edge::Dead,
            at if at + 1 == letters.len() => Edge::Pop { verdicts },
            at => self.go(Local::Word { word, at: at as u8 + 1, verdicts }),
        }
    }

    /// A name in progress as a state.
    pub(super) fn name(&mut self, name: Name) -> LocalId {
        self.local(Local::Name(name))
    }
}
