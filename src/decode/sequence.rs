//! One attempt in flight: logits in, a token or a stop out. Knows no model, no batch and no scenario.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::allowed::Allowed;
use super::constraint::Matcher;
use super::engine::frames::{Cost, Finish};
use super::loops::LoopDetector;
use super::profile::Profile;
use super::sampler::Sampler;
use super::vocab::{TokenId, Vocab};

/// The texts around a model's reasoning.
pub const THINK_OPEN: &str = "<think>";
/// See [`THINK_OPEN`].
pub const THINK_CLOSE: &str = "</think>";

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Evaluate this token and come back with the logits after it.
    Feed(TokenId),
    /// The attempt has ended.
    Stop(Finish),
    /// The model's logits cannot be used: all NaN or minus infinity.
    Broken,
}

/// How an attempt reasons before it answers.
#[derive(Debug, Clone)]
pub struct Thinking {
    /// Whether the prompt has opened the reasoning already.
    pub opened: bool,
    /// Tokens that may be spent on it.
    pub budget: u32,
    /// [`THINK_CLOSE`] and a line break as tokens, fed when the budget is spent.
    pub close: Vec<TokenId>,
}

/// Where in its text an attempt is.
#[derive(Debug, Clone)]
enum Phase {
    /// The first choice decides whether the model reasons at all.
    Undecided(Thinking),
    /// Free text up to the end marker; `closing` holds what is still to be fed of it.
    Thinking { rest: u32, close: Vec<TokenId>, closing: VecDeque<TokenId> },
    /// Under the constraint, if there is one.
    Answer,
}

/// One attempt: its text so far, and what chooses and limits the rest.
#[derive(Debug)]
pub struct Sequence {
    sampler: Sampler,
    matcher: Option<Matcher>,
    loops: LoopDetector,
    phase: Phase,
    mask_first: bool,
    /// Tokens that the answer may still have; reasoning has a budget of its own.
    rest: u32,
    /// The text's bytes.
    pub text: Vec<u8>,
    /// What it has cost in tokens; the worker adds the times.
    pub cost: Cost,
    /// Time spent on checking choices. A check takes less than a microsecond, so only the sum can be rounded.
    pub check: Duration,
    /// Time spent on masks and on choosing under them.
    pub mask: Duration,
}

impl Sequence {
    /// An attempt before its first token. `matcher` is for an attempt under a constraint, with nothing written yet;
    /// `thinking` is for models that may reason first.
    pub fn new(profile: &Profile, seed: u64, matcher: Option<Matcher>, thinking: Option<Thinking>) -> Self {
        let phase = match thinking {
            None => Phase::Answer,
            Some(Thinking { opened: true, budget, close }) => {
                Phase::Thinking { rest: budget, close, closing: VecDeque::new() }
            }
            Some(undecided) => Phase::Undecided(undecided),
        };
        Self {
            sampler: Sampler::new(profile, seed),
            matcher,
            loops: LoopDetector::new(profile.loop_spaces, profile.loop_tokens),
            phase,
            mask_first: profile.mask_first,
            rest: profile.max_tokens,
            text: Vec::new(),
            cost: Cost::default(),
            check: Duration::ZERO,
            mask: Duration::ZERO,
        }
    }

    /// Chooses the next token from the logits (one a token of `vocab`) and applies every rule that ends a text.
    ///
    /// `allowed` is what the matcher came from: attempts share it, since it remembers what it has found out.
    pub fn step(&mut self, logits: &[f32], vocab: &Vocab, mut allowed: Option<&mut Allowed>) -> Step {
        if let Phase::Thinking { closing, .. } = &mut self.phase
            && let Some(token) = closing.pop_front()
        {
            return self.feed(token, vocab, allowed);
        }
        if let (true, Phase::Answer, Some(allowed)) = (self.mask_first, &self.phase, &mut allowed) {
            let masked = self.choose_masked(logits, allowed);
            return self.take(masked, vocab, Some(allowed));
        }
        let Some(free) = self.sampler.choose(logits, None) else { return Step::Broken };
        if let Phase::Undecided(thinking) = &self.phase {
            self.phase = first_phase(vocab.piece(free), thinking);
        }
        let chosen = match (&self.phase, &mut allowed) {
            (Phase::Answer, Some(allowed)) => self.choose_allowed(free, logits, allowed),
            _ => Some(free),
        };
        self.take(chosen, vocab, allowed)
    }

    /// The bytes that the constraint leaves no choice about, up to a number.
    pub fn forced(&mut self, allowed: &mut Allowed, limit: usize) -> Vec<u8> {
        let (Phase::Answer, Some(matcher)) = (&self.phase, &self.matcher) else { return Vec::new() };
        let start = Instant::now();
        let forced = allowed.constraint().forced(matcher, limit);
        self.check += start.elapsed();
        forced
    }

    fn take(&mut self, chosen: Option<TokenId>, vocab: &Vocab, allowed: Option<&mut Allowed>) -> Step {
        match chosen {
            None => Step::Stop(Finish::DeadEnd),
            Some(token) if vocab.is_end(token) => Step::Stop(self.finish_at_end()),
            Some(token) => self.feed(token, vocab, allowed),
        }
    }

    /// Tests the free choice, and only when it is refused builds the mask and chooses again.
    fn choose_allowed(&mut self, free: TokenId, logits: &[f32], allowed: &mut Allowed) -> Option<TokenId> {
        let matcher = self.matcher.as_mut()?;
        let start = Instant::now();
        let good = allowed.check(matcher, free);
        self.check += start.elapsed();
        if good { Some(free) } else { self.choose_masked(logits, allowed) }
    }

    fn choose_masked(&mut self, logits: &[f32], allowed: &mut Allowed) -> Option<TokenId> {
        let matcher = self.matcher.as_mut()?;
        let start = Instant::now();
        let mask = allowed.mask(matcher);
        let chosen = self.sampler.choose(logits, Some(&mask));
        self.mask += start.elapsed();
        self.cost.n_masks += 1;
        chosen
    }

    fn feed(&mut self, token: TokenId, vocab: &Vocab, allowed: Option<&mut Allowed>) -> Step {
        let piece = vocab.piece(token);
        self.text.extend_from_slice(piece);
        self.sampler.accept(token);
        self.cost.n_output += 1;
        let looping = self.loops.push(token, piece);
        match &mut self.phase {
            Phase::Answer => {
                self.rest = self.rest.saturating_sub(1);
                if let (Some(matcher), Some(allowed)) = (&mut self.matcher, allowed) {
                    if !allowed.advance(matcher, token) {
                        return Step::Stop(Finish::DeadEnd);
                    }
                    if allowed.constraint().is_complete(matcher) {
                        return Step::Stop(Finish::Complete);
                    }
                }
            }
            Phase::Thinking { rest, close, closing } => {
                *rest = rest.saturating_sub(1);
                if !close.is_empty() && ends_reasoning(&self.text, piece.len()) {
                    self.phase = Phase::Answer;
                } else if *rest == 0 {
                    // Spent: the end is fed, all of it, before the answer begins.
                    closing.extend(std::mem::take(close));
                    if closing.is_empty() {
                        self.phase = Phase::Answer;
                    }
                }
            }
            Phase::Undecided(_) => {}
        }
        if looping {
            Step::Stop(Finish::Loop)
        } else if self.rest == 0 {
            Step::Stop(Finish::MaxTokens)
        } else {
            Step::Feed(token)
        }
    }

    fn finish_at_end(&self) -> Finish {
        match (&self.phase, &self.matcher) {
            (Phase::Answer, Some(_)) => Finish::Complete,
            _ => Finish::Stop,
        }
    }
}

/// A model that reasons says so with its first token; any other first token begins the answer.
fn first_phase(piece: &[u8], thinking: &Thinking) -> Phase {
    let start = piece.trim_ascii_start();
    let open = THINK_OPEN.as_bytes();
    if !start.is_empty() && (open.starts_with(start) || start.starts_with(open)) {
        Phase::Thinking { rest: thinking.budget, close: thinking.close.clone(), closing: VecDeque::new() }
    } else {
        Phase::Answer
    }
}

/// Whether the newest `n_new` bytes completed the end marker. What follows it in the same token belongs to the answer's
/// white space in every tokenizer seen (the marker is a token of its own, or is followed by line breaks).
fn ends_reasoning(text: &[u8], n_new: usize) -> bool {
    let close = THINK_CLOSE.as_bytes();
    let from = text.len().saturating_sub(n_new + close.len() - 1);
    text[from..].windows(close.len()).any(|window| window == close)
}
