//! A model without weights: it says what a script says. For tests of everything above the model, with the rules of
//! llama.cpp's batches enforced.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::{BatchToken, Card, Error, Model, Slot};
use crate::decode::vocab::{Token, TokenId, TokenKind, Vocab};

/// Logits after some text: the tokens so far of one slot, prompt included, to one value a token.
pub type Script = Box<dyn Fn(&[TokenId]) -> Vec<f32>>;

/// A [`Model`] whose logits come from a function of the slot's tokens.
pub struct ScriptedModel {
    vocab: Arc<Vocab>,
    script: Script,
    slots: HashMap<Slot, Vec<TokenId>>,
    logits: HashMap<(Slot, u32), Vec<f32>>,
    /// What it says of itself.
    pub card: Card,
    /// Whether it can forget the end of what a slot has seen; recurrent models cannot.
    pub forgets_in_part: bool,
    /// How many tokens have been evaluated.
    pub n_evaluated: usize,
    /// How often a slot was copied.
    pub n_copies: usize,
    /// All that it has been asked to evaluate.
    pub batches: Vec<Vec<BatchToken>>,
    /// For every text that a slot has held, by its hash, whether its last token was evaluated alone: as the only one of
    /// its slot in its batch. llama.cpp rounds the two ways differently.
    pub alone: HashMap<u64, bool>,
}

impl ScriptedModel {
    /// A model with these tokens, this card and this script.
    pub fn new(vocab: Arc<Vocab>, card: Card, script: Script) -> Self {
        Self {
            vocab,
            script,
            slots: HashMap::new(),
            logits: HashMap::new(),
            card,
            forgets_in_part: true,
            n_evaluated: 0,
            n_copies: 0,
            batches: Vec::new(),
            alone: HashMap::new(),
        }
    }
}

impl Model for ScriptedModel {
    fn vocab(&self) -> &Arc<Vocab> {
        &self.vocab
    }

    fn card(&self) -> &Card {
        &self.card
    }

    /// Greedy longest match, as far as the vocab goes; bytes that no token begins with are left out.
    fn tokenize(&self, text: &str) -> Vec<TokenId> {
        let mut rest = text.as_bytes();
        let mut tokens = Vec::new();
        while !rest.is_empty() {
            let ids = (0..self.vocab.len() as u32).map(TokenId);
            let fits =
                ids.filter(|id| !self.vocab.piece(*id).is_empty() && rest.starts_with(self.vocab.piece(*id)));
            match fits.max_by_key(|id| self.vocab.piece(*id).len()) {
                Some(token) => {
                    rest = &rest[self.vocab.piece(token).len()..];
                    tokens.push(token);
                }
                None => rest = &rest[1..],
            }
        }
        tokens
    }

    fn decode(&mut self, batch: &[BatchToken]) -> Result<(), Error> {
        if batch.is_empty() {
            return Err(Error::Batch("no tokens".into()));
        }
        self.logits.clear();
        for entry in batch {
            let seen = self.slots.entry(entry.slot).or_default();
            if entry.position as usize != seen.len() {
                return Err(Error::Batch(format!(
                    "slot {} holds {} tokens, the next cannot be at {}",
                    entry.slot.0,
                    seen.len(),
                    entry.position
                )));
            }
            if seen.len() as u32 >= self.card.context {
                return Err(Error::Batch(format!("slot {} is full", entry.slot.0)));
            }
            seen.push(entry.token);
            if entry.wants_logits {
                self.logits.insert((entry.slot, entry.position), (self.script)(seen));
            }
        }
        self.n_evaluated += batch.len();
        let mut each: HashMap<Slot, usize> = HashMap::new();
        for entry in batch {
            *each.entry(entry.slot).or_default() += 1;
        }
        for entry in batch {
            let mut hasher = DefaultHasher::new();
            self.slots[&entry.slot][..=entry.position as usize].hash(&mut hasher);
            self.alone.insert(hasher.finish(), each[&entry.slot] == 1);
        }
        self.batches.push(batch.to_vec());
        Ok(())
    }

    fn logits(&self, slot: Slot, position: u32) -> &[f32] {
        &self.logits[&(slot, position)]
    }

    fn copy(&mut self, from: Slot, to: Slot) -> Result<(), Error> {
        let seen = self.slots.get(&from).cloned().unwrap_or_default();
        self.slots.insert(to, seen);
        self.n_copies += 1;
        Ok(())
    }

    fn keep(&mut self, slot: Slot, n_tokens: u32) -> Result<u32, Error> {
        let seen = self.slots.entry(slot).or_default();
        if n_tokens as usize > seen.len() {
            return Err(Error::Batch(format!(
                "slot {} holds {} tokens and cannot keep {n_tokens}",
                slot.0,
                seen.len()
            )));
        }
        seen.truncate(if self.forgets_in_part { n_tokens as usize } else { 0 });
        Ok(seen.len() as u32)
    }
}

/// Every byte as a token, then the given pieces, then one special token and one that ends generation.
pub fn byte_vocab(pieces: &[&str]) -> Vocab {
    let text = |bytes: &[u8]| Token { bytes: bytes.to_vec(), kind: TokenKind::Text };
    let bytes = (0..=u8::MAX).map(|byte| text(&[byte]));
    let pieces = pieces.iter().map(|piece| text(piece.as_bytes()));
    let special =
        [TokenKind::Special, TokenKind::EndOfGeneration].map(|kind| Token { bytes: Vec::new(), kind });
    Vocab::new(bytes.chain(pieces).chain(special).collect())
}

/// A model that, without a constraint, answers each prompt with what `answer` makes of it. Led away from that answer, it
/// wants to end.
pub fn answering(
    vocab: Arc<Vocab>,
    context: u32,
    answer: impl Fn(&str) -> String + 'static,
) -> ScriptedModel {
    let words = Arc::clone(&vocab);
    let script = move |tokens: &[TokenId]| {
        let seen: Vec<u8> = tokens.iter().flat_map(|token| words.piece(*token)).copied().collect();
        let seen = String::from_utf8_lossy(&seen).into_owned();
        let (prompt, said) = seen.split_once(CUE).unwrap_or((&seen, ""));
        let mut logits = vec![0.0; words.len()];
        let wanted = answer(prompt);
        match wanted.strip_prefix(said).filter(|rest| !rest.is_empty()) {
            Some(rest) => {
                for (id, logit) in (0..).zip(&mut logits) {
                    let piece = words.piece(TokenId(id));
                    let fits = !piece.is_empty() && rest.as_bytes().starts_with(piece);
                    *logit = if fits { piece.len() as f32 } else { 0.0 };
                }
            }
            None => {
                for (id, logit) in (0..).zip(&mut logits) {
                    *logit = eagerness_to_end(&words, TokenId(id));
                }
            }
        }
        logits
    };
    let card = Card { context, ..Card::default() };
    ScriptedModel::new(vocab, card, Box::new(script))
}

/// How much a model that has nothing more to say wants a token: the end, or the shortest object.
fn eagerness_to_end(vocab: &Vocab, token: TokenId) -> f32 {
    match vocab.piece(token) {
        _ if vocab.is_end(token) => 1.0,
        b"}" => 0.9,
        b"{" => 0.8,
        _ => 0.0,
    }
}

/// What stands between the prompt and the answer: the end of [`crate::prompt::completion`].
const CUE: &str = "\n\nJSON:\n";
