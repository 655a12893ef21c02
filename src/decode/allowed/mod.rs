//! Constraint and vocab to token mask: what is known already, and what the walk has to find out.

mod cache;
mod walk;

use std::sync::Arc;

use super::constraint::{Class, Constraint, Endings, Frame, Matcher, Rules, Spot};
use super::vocab::{Slice, TokenId, TokenMask, Vocab};
use cache::{Cache, Cached, Inside, Walked};
use walk::{Found, SetAside};

/// Masks of texts nested deeper than this are not remembered: the limit on depth may be within a token's reach.
const DEEP: usize = 50;

/// What the rules allow of a vocabulary.
#[derive(Debug)]
pub struct Allowed {
    constraint: Constraint,
    vocab: Arc<Vocab>,
    cache: Cache,
    /// Of the constraint whose states name the masks in the cache.
    generation: u32,
    /// Scratch of the walk: the frames of the matcher and those the walk adds, and the spot at every depth.
    frames: Vec<Frame>,
    spots: Vec<Spot>,
    path: Vec<u8>,
    waiting: Vec<u32>,
}

impl Allowed {
    /// The rules over the vocabulary, with nothing found out yet.
    pub fn new(rules: Arc<Rules>, vocab: Arc<Vocab>) -> Self {
        let constraint = Constraint::new(rules);
        let cache = Cache::default();
        Self {
            constraint,
            vocab,
            cache,
            generation: 0,
            frames: Vec::new(),
            spots: Vec::new(),
            path: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// The constraint below, for questions about bytes.
    pub fn constraint(&mut self) -> &mut Constraint {
        &mut self.constraint
    }

    /// A text with nothing written.
    pub fn start(&self) -> Matcher {
        self.constraint.start()
    }

    /// How many masks were asked for, and how many of them were known already.
    pub fn cache_hits(&self) -> (u64, u64) {
        (self.cache.n_asked, self.cache.n_hits)
    }

    /// Every token that may come next; those that end generation when the text may end.
    pub fn mask(&mut self, matcher: &mut Matcher) -> Arc<TokenMask> {
        self.constraint.trim();
        let mask = self.find_mask(matcher);
        if !self.constraint.is_spent() {
            return mask;
        }
        // The walk was cut short. With nothing else in memory it may come to its end; if not, the text ends here.
        self.constraint.start_anew();
        let mask = self.find_mask(matcher);
        if self.constraint.is_spent() { Arc::new(TokenMask::of(Vec::new(), self.vocab.len())) } else { mask }
    }

    fn find_mask(&mut self, matcher: &mut Matcher) -> Arc<TokenMask> {
        if self.generation != self.constraint.generation() {
            self.generation = self.constraint.generation();
            self.cache.clear();
        }
        self.constraint.refresh(matcher);
        if matcher.depth() > DEEP {
            return self.find(matcher).1;
        }
        let top = self.constraint.likenesses(matcher, &mut self.waiting);
        if let Some(known) = self.cache.get(top, &self.waiting) {
            if known.unstable.is_empty() {
                return Arc::clone(&known.mask);
            }
            let known = known.clone();
            let (mask, is_new) = self.recalled(&known, matcher);
            if is_new {
                self.cache.put_new_name(top, &self.waiting, &mask);
            }
            return mask;
        }
        let (cached, mask) = self.find(matcher);
        self.cache.put(top, &self.waiting, cached);
        mask
    }

    /// The mask as far as it depends on the states alone, and the whole mask for this text.
    fn find(&mut self, matcher: &mut Matcher) -> (Cached, Arc<TokenMask>) {
        let inside = self.inside(matcher);
        let mut found = Found::default();
        if self.constraint.may_end(matcher) {
            found.tokens.extend_from_slice(self.vocab.ends());
        }
        self.constraint.watch(matcher);
        let known = self.constraint.known_names(matcher, &inside.endings);
        let closings = self.closings(&inside, known.as_deref(), matcher);
        if let (Some(_), Some(tokens)) = (&known, &closings) {
            return self.find_in_name(&inside, tokens, matcher);
        }
        let exits = if closings.is_some() { &inside.odd_exits } else { &inside.exits };
        self.walk_nodes(exits, inside.walked, matcher, &mut found, SetAside::Unstable);
        found.tokens.extend(closings.into_iter().flatten());
        let n_frames = self.constraint.watched(matcher);
        let mask = with(&inside.mask, &found.tokens);
        let whole = with(&mask, &found.aside_tokens);
        let is_new = known.is_some_and(|nodes| nodes.is_empty()) && !found.is_nested;
        let new_name = is_new.then(|| Arc::clone(&whole));
        (Cached { mask, n_frames, walked: inside.walked, unstable: found.set_aside.into(), new_name }, whole)
    }

    /// The same inside a name, where only names that are mentioned or were there before are not like all others.
    fn find_in_name(
        &mut self,
        inside: &Inside,
        closings: &[TokenId],
        matcher: &Matcher,
    ) -> (Cached, Arc<TokenMask>) {
        let mut found = Found::default();
        self.walk_nodes(&inside.odd_exits, inside.walked, matcher, &mut found, SetAside::Nothing);
        found.tokens.extend_from_slice(closings);
        let n_frames = self.constraint.watched(matcher);
        let cached = Cached {
            mask: Arc::clone(&inside.mask),
            n_frames,
            walked: inside.walked,
            unstable: Arc::clone(&inside.exits),
            new_name: (!found.is_nested).then(|| with(&inside.mask, &found.tokens)),
        };
        let mask = self.recalled(&cached, matcher).0;
        (cached, mask)
    }

    /// The closing tokens of the slice that may follow, if that depends on their tails and the states alone; inside a
    /// name, those that may follow a new one. `known` has the nodes where the name ends as a known one.
    fn closings(
        &mut self,
        inside: &Inside,
        known: Option<&[u32]>,
        matcher: &Matcher,
    ) -> Option<Vec<TokenId>> {
        let vocab = Arc::clone(&self.vocab);
        let closing = &inside.walked.slice(&vocab)?.closing;
        if closing.nodes.is_empty() {
            return None;
        }
        let mut found = Found::default();
        self.begin_walk(matcher);
        let from = match known {
            Some(nodes) if nodes.iter().any(|node| inside.odd_exits.contains(node)) => return None,
            Some(_) => {
                let Some(spot) = self.constraint.after_new_name(matcher) else { return Some(Vec::new()) };
                self.spots.push(spot);
                self.path.push(b'"');
                found.tokens.extend_from_slice(closing.tails.tokens_at(0));
                1
            }
            None if self.constraint.closes_alike(matcher)? >= closing.longest => 0,
            None => return None,
        };
        let range = from..closing.tails.nodes().len();
        self.walk(&closing.tails, range, matcher.text(), &mut found, SetAside::Unstable);
        found.set_aside.is_empty().then_some(found.tokens)
    }

    /// What is known about the state of the innermost value, found out if need be.
    fn inside(&mut self, matcher: &Matcher) -> Inside {
        let (twin, max_len) = self.constraint.twin(matcher);
        let inside = self.inside_of(matcher, twin);
        match (max_len, inside.walked.slice(&self.vocab)) {
            (None, _) => inside,
            // Up to the count of characters the same tokens may follow as without it.
            (Some(max), Some(slice)) if max >= inside.longest as u64 => {
                let words = slice.up_to(max);
                let mask = TokenMask::from_words(words, self.vocab.len()).with(&inside.rest);
                Inside { mask: Arc::new(mask), ..inside }
            }
            _ => self.inside_of(matcher, matcher.top()),
        }
    }

    /// What is known about a state; found anew where the limit on depth may be within a token's reach, as that is no
    /// part of the state.
    fn inside_of(&mut self, matcher: &Matcher, state: u32) -> Inside {
        if matcher.depth() > DEEP {
            return self.find_inside(matcher, state);
        }
        if let Some(known) = self.cache.inside(state) {
            return known.clone();
        }
        let inside = self.find_inside(matcher, state);
        self.cache.put_inside(state, inside.clone());
        inside
    }

    /// The mask as far as it depends on the state of the innermost value alone, or on that of its twin.
    fn find_inside(&mut self, matcher: &Matcher, twin: u32) -> Inside {
        let vocab = Arc::clone(&self.vocab);
        let loose = self.constraint.loosened(twin);
        let passing = loose.and_then(|loose| {
            let whole = |(idx, slice): (usize, &Slice)| {
                let class = Class {
                    has: &|c| slice.has(c),
                    is_unicode: slice.is_unicode(),
                    longest: slice.longest(),
                };
                Some((idx, slice.up_to(self.constraint.passing(loose, class)?)))
            };
            vocab.slices().iter().enumerate().find_map(whole)
        });
        let walked = match &passing {
            Some((idx, _)) => Walked::RestOf(*idx),
            None if self.constraint.is_between(twin) => Walked::Between,
            None => Walked::All,
        };
        let trie = walked.trie(&vocab);
        let mut found = Found::default();
        self.begin_walk(matcher);
        self.spots[0].top = twin;
        self.walk(trie, 0..trie.nodes().len(), matcher.text(), &mut found, SetAside::Exits);
        let mask = match passing {
            Some((_, mut words)) => {
                found.tokens.iter().for_each(|token| words[token.0 as usize / 64] |= 1 << (token.0 % 64));
                TokenMask::from_words(words, vocab.len())
            }
            None => TokenMask::of(found.tokens.clone(), vocab.len()),
        };
        let exits: Arc<[u32]> = found.set_aside.into();
        let closing = walked.slice(&vocab).map_or(&[][..], |slice| &slice.closing.nodes);
        let odd_exits = exits.iter().copied().filter(|node| closing.binary_search(node).is_err()).collect();
        let mut endings = Endings::default();
        for &node in exits.iter().filter(|_| self.constraint.is_in_name(matcher)) {
            let piece = vocab.piece(trie.first_token_below(node as usize));
            endings.add(&piece[..trie.nodes()[node as usize].depth as usize], node);
        }
        let longest = found.tokens.iter().map(|&token| vocab.piece(token).len()).max().unwrap_or(0);
        Inside {
            mask: Arc::new(mask),
            walked,
            exits,
            odd_exits,
            endings: Arc::new(endings),
            rest: found.tokens.into(),
            longest,
        }
    }

    /// The nodes where a name that the text is inside of ends as one that is mentioned or was there before.
    fn known_names(&mut self, matcher: &Matcher) -> Option<Vec<u32>> {
        let (twin, _) = self.constraint.twin(matcher);
        let endings = Arc::clone(&self.cache.inside(twin)?.endings);
        self.constraint.known_names(matcher, &endings)
    }

    /// The whole mask; inside a name from that of a new one, but for the tokens that make it a known one. Also whether
    /// it is that of a new one, found just now.
    fn recalled(&mut self, known: &Cached, matcher: &Matcher) -> (Arc<TokenMask>, bool) {
        let Some(nodes) = self.known_names(matcher) else { return (self.completed(known, matcher).0, false) };
        let mask = match &known.new_name {
            Some(mask) if nodes.is_empty() => Arc::clone(mask),
            Some(mask) => {
                let mut found = Found::default();
                self.walk_nodes(&nodes, known.walked, matcher, &mut found, SetAside::Nothing);
                let trie = known.walked.trie(&self.vocab);
                let below = nodes.iter().flat_map(|&node| trie.tokens_below(node as usize));
                Arc::new(mask.without(below.copied()).with(&found.tokens))
            }
            None => {
                let (mask, is_nested) = self.completed(known, matcher);
                return (mask, nodes.is_empty() && !is_nested);
            }
        };
        (mask, false)
    }

    /// The mask with the tokens added whose verdict depends on the text, and whether it does so in more than one place.
    fn completed(&mut self, cached: &Cached, matcher: &Matcher) -> (Arc<TokenMask>, bool) {
        let mut found = Found::default();
        self.walk_nodes(&cached.unstable, cached.walked, matcher, &mut found, SetAside::Nothing);
        (with(&cached.mask, &found.tokens), found.is_nested)
    }

    /// Whether one token may come next, without building a mask.
    pub fn check(&mut self, matcher: &mut Matcher, token: TokenId) -> bool {
        if self.vocab.is_special(token) {
            return self.vocab.is_end(token) && self.constraint.may_end(matcher);
        }
        self.follow(matcher, token).is_some()
    }

    /// Writes a token's bytes; false, and nothing changes, when it may not come next. A token that ends generation
    /// changes nothing either.
    pub fn advance(&mut self, matcher: &mut Matcher, token: TokenId) -> bool {
        if self.vocab.is_special(token) {
            return self.check(matcher, token);
        }
        self.constraint.trim();
        let Some(spot) = self.follow(matcher, token) else { return false };
        matcher.accept(self.vocab.piece(token), &self.frames, spot);
        true
    }

    fn follow(&mut self, matcher: &mut Matcher, token: TokenId) -> Option<Spot> {
        let vocab = Arc::clone(&self.vocab);
        let piece = vocab.piece(token);
        self.constraint.refresh(matcher);
        self.begin_walk(matcher);
        let reached = !piece.is_empty() && self.walk_path(piece, matcher.text());
        reached.then(|| self.spots[piece.len()])
    }
}

fn with(mask: &Arc<TokenMask>, tokens: &[TokenId]) -> Arc<TokenMask> {
    if tokens.is_empty() { Arc::clone(mask) } else { Arc::new(mask.with(tokens)) }
}
