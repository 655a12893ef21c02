//! Requirements on a text: what one more byte of the decoded text leaves of them, and whether anything can.

use rustc_hash::FxHashSet;

use super::borders::Borders;
use super::expr::{Expr, ExprId, FALSE, TRUE};
use super::leaf::Leaf;
use super::tables::Graph;

/// How many formulas a search for a text that fits may look at before it takes one for granted.
const SEARCH_LIMIT: usize = 3_000;
/// How many requirements, and states of automata, it may try a byte on.
const EFFORT_LIMIT: usize = 2_000_000;

impl Graph {
    /// What remains of a formula over a text after one more byte of it. Bytes come in whole characters.
    pub(super) fn text_byte(&mut self, id: ExprId, byte: u8) -> ExprId {
        if id == TRUE || id == FALSE {
            return id;
        }
        if let Some(&known) = self.memo.byte.get(&(id, byte)) {
            return known;
        }
        let next = match self.exprs.get(id).clone() {
            Expr::Leaf(leaf) => self.leaf_byte(id, &leaf, byte),
            Expr::Not(inner) => {
                let inner = self.text_byte(inner, byte);
                self.exprs.not(inner)
            }
            Expr::And(parts) => {
                let list: Vec<_> = parts.iter().map(|&part| self.text_byte(part, byte)).collect();
                self.exprs.and(&list)
            }
            Expr::Or(parts) => {
                let list: Vec<_> = parts.iter().map(|&part| self.text_byte(part, byte)).collect();
                self.exprs.or(&list)
            }
            Expr::One(parts) => {
                let list: Vec<_> = parts.iter().map(|&part| self.text_byte(part, byte)).collect();
                self.exprs.one(&list)
            }
            Expr::False | Expr::True | Expr::Ref(_) | Expr::Var(_) => id,
        };
        self.memo.byte.insert((id, byte), next);
        next
    }

    fn leaf_byte(&mut self, id: ExprId, leaf: &Leaf, byte: u8) -> ExprId {
        let begins_character = byte & 0xc0 != 0x80;
        match *leaf {
            Leaf::Pattern { pattern, state } => {
                let next = self.pattern_next(pattern, state, byte);
                self.pattern_at(pattern, next)
            }
            Leaf::MinLen(n) if begins_character => self.exprs.leaf(Leaf::MinLen(n - 1)),
            Leaf::MaxLen(0) if begins_character => FALSE,
            Leaf::MaxLen(n) if begins_character => self.exprs.leaf(Leaf::MaxLen(n - 1)),
            Leaf::Words { list, lo, hi, depth } => {
                let words = &self.words[list as usize][lo as usize..hi as usize];
                let at = depth as usize;
                let from = words.partition_point(|word| word.get(at).is_none_or(|&b| b < byte));
                let to = words.partition_point(|word| word.get(at).is_none_or(|&b| b <= byte));
                if from == to {
                    return FALSE;
                }
                let (lo, hi) = (lo + from as u32, lo + to as u32);
                self.exprs.leaf(Leaf::Words { list, lo, hi, depth: depth + 1 })
            }
            _ => id,
        }
    }

    /// What a requirement comes to when the text ends here.
    pub(super) fn text_end(&self, leaf: &Leaf) -> bool {
        match *leaf {
            Leaf::Pattern { pattern, state } => self.patterns[pattern as usize].at_end(state),
            Leaf::MinLen(n) => n == 0,
            // The list is sorted, so that the word which ends here comes first.
            Leaf::Words { list, lo, depth, .. } => {
                self.words[list as usize][lo as usize].len() == depth as usize
            }
            _ => true,
        }
    }

    /// Whether some text that goes on from here fits, as far as a bounded search tells.
    pub(super) fn text_alive(&mut self, id: ExprId) -> bool {
        if self.is_surely_alive(id) {
            return true;
        }
        if let Some(&known) = self.memo.text_alive.get(&id) {
            return known;
        }
        let alive = id != FALSE && self.search_text(id);
        self.memo.text_alive.insert(id, alive);
        alive
    }

    /// Formulas whose shape alone shows that something fits.
    fn is_surely_alive(&self, id: ExprId) -> bool {
        let positive = |leaf: &Expr| {
            matches!(
                leaf,
                Expr::Leaf(Leaf::Pattern { .. } | Leaf::MinLen(_) | Leaf::MaxLen(_) | Leaf::Words { .. })
            )
        };
        match self.exprs.get(id) {
            Expr::True => true,
            Expr::And(parts) => {
                parts.iter().all(|&part| matches!(self.exprs.get(part), Expr::Leaf(Leaf::MinLen(_))))
            }
            expr => positive(expr),
        }
    }

    fn search_text(&mut self, start: ExprId) -> bool {
        let mut seen = FxHashSet::default();
        let mut open = vec![start];
        let mut effort = 0;
        while let Some(id) = open.pop() {
            if id == FALSE || self.memo.text_alive.get(&id) == Some(&false) || !seen.insert(id) {
                continue;
            }
            if self.text_ends(id) || self.is_surely_alive(id) || self.memo.text_alive.get(&id) == Some(&true)
            {
                return true;
            }
            let alphabet = self.alphabet(id);
            effort += alphabet.len() * self.byte_effort(id);
            if seen.len() > SEARCH_LIMIT || effort > EFFORT_LIMIT {
                return true;
            }
            for byte in alphabet {
                let next = self.text_byte(id, byte);
                if next != id {
                    open.push(next);
                }
            }
        }
        self.memo.text_alive.extend(seen.into_iter().map(|id| (id, false)));
        false
    }

    /// On how many requirements, and states of automata, one more byte is tried.
    pub(super) fn byte_effort(&self, id: ExprId) -> usize {
        match self.exprs.get(id) {
            Expr::Leaf(Leaf::Pattern { pattern, state }) => self.patterns[*pattern as usize].width(*state),
            expr => 1 + expr.parts().iter().map(|&part| self.byte_effort(part)).sum::<usize>(),
        }
    }

    /// Whether a formula over a text is true when the text ends here.
    pub(super) fn text_ends(&self, id: ExprId) -> bool {
        self.decide(id, &|leaf| self.text_end(leaf))
    }

    /// A formula's value when every requirement is decided by `end`.
    pub(super) fn decide(&self, id: ExprId, end: &dyn Fn(&Leaf) -> bool) -> bool {
        match self.exprs.get(id) {
            Expr::True => true,
            Expr::False | Expr::Ref(_) | Expr::Var(_) => false,
            Expr::Leaf(leaf) => end(leaf),
            Expr::Not(inner) => !self.decide(*inner, end),
            Expr::And(parts) => parts.iter().all(|&part| self.decide(part, end)),
            Expr::Or(parts) => parts.iter().any(|&part| self.decide(part, end)),
            Expr::One(parts) => parts.iter().filter(|&&part| self.decide(part, end)).count() == 1,
        }
    }

    /// The first bytes of ranges that the formula does not tell apart.
    pub(super) fn alphabet(&self, id: ExprId) -> Vec<u8> {
        let mut borders = Borders::default();
        // A character of every length, for the counts.
        for byte in [b'a', 0xc3, 0xe4, 0xf1, 0x80, 0xbf] {
            borders.begin(byte);
        }
        self.borders(id, &mut borders);
        borders.begins().collect()
    }

    /// Adds the borders between bytes that the formula tells apart; those of characters are not among them.
    pub(super) fn borders(&self, id: ExprId, borders: &mut Borders) {
        match self.exprs.get(id) {
            Expr::Not(inner) => self.borders(*inner, borders),
            Expr::And(parts) | Expr::Or(parts) | Expr::One(parts) => {
                parts.iter().for_each(|&part| self.borders(part, borders));
            }
            Expr::Leaf(Leaf::Pattern { pattern, .. }) => {
                self.patterns[*pattern as usize].alphabet().iter().for_each(|&byte| borders.begin(byte));
            }
            Expr::Leaf(Leaf::Words { list, lo, hi, depth }) => {
                let words = &self.words[*list as usize][*lo as usize..*hi as usize];
                words
                    .iter()
                    .filter_map(|word| word.get(*depth as usize))
                    .for_each(|&byte| borders.only(byte));
            }
            _ => {}
        }
    }
}
