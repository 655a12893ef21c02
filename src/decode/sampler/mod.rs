//! Logits, mask, profile and seed to a token. Pure: knows no text, no constraint and no clock.

mod greedy;

use std::collections::VecDeque;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::profile::Profile;
use super::vocab::{TokenId, TokenMask};
pub use greedy::argmax;

/// Chooses tokens for one attempt.
#[derive(Debug, Clone)]
pub struct Sampler {
    temperature: f32,
    top_k: usize,
    top_p: f32,
    min_p: f32,
    penalty: f32,
    last_n: usize,
    recent: VecDeque<TokenId>,
    rng: ChaCha8Rng,
}

/// A token with its logit, later its probability.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    token: TokenId,
    weight: f32,
}

impl Sampler {
    /// A sampler whose draws depend on nothing but `seed` and what it is shown.
    pub fn new(profile: &Profile, seed: u64) -> Self {
        Self {
            temperature: profile.temperature,
            top_k: profile.top_k as usize,
            top_p: profile.top_p,
            min_p: profile.min_p,
            penalty: profile.repeat_penalty,
            last_n: profile.repeat_last_n as usize,
            recent: VecDeque::new(),
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Chooses among all tokens, or among those that `mask` allows; `None` when there is none.
    ///
    /// `logits` has one value a token. Equal logits are decided for the lower id.
    pub fn choose(&mut self, logits: &[f32], mask: Option<&TokenMask>) -> Option<TokenId> {
        if self.temperature > 0.0 {
            self.draw(logits, mask)
        } else if self.penalises() {
            best(self.candidates(logits, mask))
        } else {
            match mask {
                None => argmax(logits),
                Some(mask) => greedy::argmax_allowed(logits, mask),
            }
        }
    }

    /// Remembers a token for the repeat penalty.
    pub fn accept(&mut self, token: TokenId) {
        if self.penalises() {
            self.recent.push_back(token);
            if self.recent.len() > self.last_n {
                self.recent.pop_front();
            }
        }
    }

    fn penalises(&self) -> bool {
        (self.penalty - 1.0).abs() > f32::EPSILON && self.last_n > 0
    }

    fn candidates(&self, logits: &[f32], mask: Option<&TokenMask>) -> Vec<Candidate> {
        let mut all: Vec<Candidate> = match mask {
            Some(mask) => raw_candidates(logits, mask).collect(),
            None => (0..).zip(logits).map(|(id, &weight)| Candidate { token: TokenId(id), weight }).collect(),
        };
        all.retain(|candidate| candidate.weight > f32::NEG_INFINITY);
        if self.penalises() {
            for candidate in &mut all {
                if self.recent.contains(&candidate.token) {
                    let weight = &mut candidate.weight;
                    *weight = if *weight > 0.0 { *weight / self.penalty } else { *weight * self.penalty };
                }
            }
        }
        all
    }

    /// llama.cpp's order: penalty, `top_k`, `top_p`, `min_p`, temperature, draw.
    fn draw(&mut self, logits: &[f32], mask: Option<&TokenMask>) -> Option<TokenId> {
        let mut all = self.candidates(logits, mask);
        let heavier =
            |a: &Candidate, b: &Candidate| b.weight.total_cmp(&a.weight).then(a.token.cmp(&b.token));
        if (1..all.len()).contains(&self.top_k) {
            // Sorting 150,000 candidates to keep 20 would cost more than all else here.
            all.select_nth_unstable_by(self.top_k, heavier);
            all.truncate(self.top_k);
        }
        all.sort_by(heavier);
        let plain = softmax(&all, 1.0);
        all.truncate(nucleus(&plain, self.top_p).min(above(&plain, self.min_p)));
        let probabilities = softmax(&all, self.temperature);
        let mut point: f32 = self.rng.random::<f32>();
        for (candidate, probability) in all.iter().zip(&probabilities) {
            point -= probability;
            if point < 0.0 {
                return Some(candidate.token);
            }
        }
        // Rounding can leave a remainder of the unit interval; it belongs to the last candidate.
        all.last().map(|candidate| candidate.token)
    }
}

fn raw_candidates<'a>(logits: &'a [f32], mask: &'a TokenMask) -> impl Iterator<Item = Candidate> + 'a {
    mask.iter().filter_map(|token| {
        let weight = *logits.get(token.0 as usize)?;
        Some(Candidate { token, weight })
    })
}

fn best(candidates: impl IntoIterator<Item = Candidate>) -> Option<TokenId> {
    let mut best: Option<Candidate> = None;
    for candidate in candidates {
        // Not `>=`, so that the lower id wins; a NaN never wins.
        if candidate.weight > best.map_or(f32::NEG_INFINITY, |b| b.weight) {
            best = Some(candidate);
        }
    }
    best.map(|candidate| candidate.token)
}

fn softmax(sorted: &[Candidate], temperature: f32) -> Vec<f32> {
    let top = sorted.first().map_or(0.0, |candidate| candidate.weight);
    let mut exponentials: Vec<f32> = sorted.iter().map(|c| ((c.weight - top) / temperature).exp()).collect();
    let sum: f32 = exponentials.iter().sum();
    for exponential in &mut exponentials {
        *exponential /= sum;
    }
    exponentials
}

/// How many of the most probable tokens it takes to reach `top_p`; at least one.
fn nucleus(probabilities: &[f32], top_p: f32) -> usize {
    if top_p >= 1.0 {
        return probabilities.len();
    }
    let mut sum = 0.0;
    let reached = probabilities.iter().position(|p| {
        sum += p;
        sum >= top_p
    });
    reached.map_or(probabilities.len(), |index| index + 1)
}

/// How many tokens are at least `min_p` as probable as the best; at least one.
fn above(probabilities: &[f32], min_p: f32) -> usize {
    let floor = probabilities.first().map_or(0.0, |best| best * min_p);
    probabilities.partition_point(|&p| p >= floor).max(1)
}

#[cfg(test)]
mod tests;
