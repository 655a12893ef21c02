use proptest::prelude::*;

use super::*;

fn profile(text: &str) -> Profile {
    let layer = crate::config::Layer::file(&format!("[profiles.greedy]\n{text}"), "test").unwrap();
    crate::config::Config::parse(&[layer], std::path::Path::new(".")).unwrap().profile
}

fn only(allowed: &[u32], n_vocab: usize) -> TokenMask {
    TokenMask::of(allowed.iter().copied().map(TokenId).collect(), n_vocab)
}

fn naive_argmax(logits: &[f32], allowed: &[u32]) -> Option<TokenId> {
    let mut best = None;
    for &id in allowed {
        let logit = logits[id as usize];
        let beats = best.is_none_or(|old: u32| logit > logits[old as usize]);
        if logit > f32::NEG_INFINITY && beats {
            best = Some(id);
        }
    }
    best.map(TokenId)
}

fn any_logit() -> impl Strategy<Value = f32> {
    prop_oneof![8 => -4.0f32..4.0, 1 => Just(f32::NEG_INFINITY), 1 => Just(2.0), 1 => Just(f32::NAN)]
}

proptest! {
    #[test]
    fn greedy_is_the_first_of_the_largest(logits in prop::collection::vec(any_logit(), 1..900), bits in any::<u64>()) {
        let all: Vec<u32> = (0..logits.len() as u32).collect();
        let some: Vec<u32> = all.iter().copied().filter(|id| bits >> (id % 64) & 1 == 1).collect();
        let mut sampler = Sampler::new(&profile(""), 1);
        prop_assert_eq!(sampler.choose(&logits, None), naive_argmax(&logits, &all));
        let mask = only(&some, logits.len());
        prop_assert_eq!(sampler.choose(&logits, Some(&mask)), naive_argmax(&logits, &some));
    }

    #[test]
    fn a_draw_stays_in_the_mask_and_depends_on_the_seed_alone(
        logits in prop::collection::vec(-4.0f32..4.0, 2..40), bits in any::<u64>(), seed in any::<u64>(),
    ) {
        let some: Vec<u32> = (0..logits.len() as u32).filter(|id| bits >> id & 1 == 1).collect();
        let mask = only(&some, logits.len());
        let warm = profile("temperature = 1.3\ntop_k = 5\ntop_p = 0.9\nmin_p = 0.02");
        let draw = |seed| Sampler::new(&warm, seed).choose(&logits, Some(&mask));
        let token = draw(seed);
        prop_assert_eq!(token.is_none(), some.is_empty());
        prop_assert!(token.is_none_or(|token| some.contains(&token.0)));
        prop_assert_eq!(token, draw(seed));
    }
}

/// How often each of four tokens is drawn in 20,000 draws.
fn frequencies(text: &str, logits: &[f32; 4]) -> [f32; 4] {
    let mut sampler = Sampler::new(&profile(text), 7);
    let mut counts = [0.0; 4];
    for _ in 0..20_000 {
        counts[sampler.choose(logits, None).unwrap().0 as usize] += 1.0 / 20_000.0;
    }
    counts
}

#[test]
fn draws_follow_the_distribution_that_each_setting_makes() {
    // Probabilities 0.4, 0.3, 0.2, 0.1 at temperature 1.
    let logits = [0.4f32.ln(), 0.3f32.ln(), 0.2f32.ln(), 0.1f32.ln()];
    let table: [(&str, [f32; 4]); 6] = [
        ("temperature = 1", [0.4, 0.3, 0.2, 0.1]),
        ("temperature = 0.5", [16.0 / 30.0, 9.0 / 30.0, 4.0 / 30.0, 1.0 / 30.0]),
        ("temperature = 1\ntop_k = 2", [4.0 / 7.0, 3.0 / 7.0, 0.0, 0.0]),
        ("temperature = 1\ntop_p = 0.65", [4.0 / 7.0, 3.0 / 7.0, 0.0, 0.0]),
        ("temperature = 1\ntop_p = 0.75", [4.0 / 9.0, 3.0 / 9.0, 2.0 / 9.0, 0.0]),
        ("temperature = 1\nmin_p = 0.6", [4.0 / 7.0, 3.0 / 7.0, 0.0, 0.0]),
    ];
    for (text, expected) in table {
        for (got, want) in frequencies(text, &logits).iter().zip(expected) {
            // Four standard deviations of the largest frequency are 0.014.
            assert!((got - want).abs() < 0.015, "{text}: {got} for {want}");
        }
    }
}

#[test]
fn the_repeat_penalty_pushes_down_what_was_seen_within_its_window() {
    let mut sampler = Sampler::new(&profile("repeat_penalty = 2.0\nrepeat_last_n = 2"), 1);
    let logits = [1.0, 0.9, -1.0];
    let mut chosen = Vec::new();
    for _ in 0..4 {
        let token = sampler.choose(&logits, None).unwrap();
        sampler.accept(token);
        chosen.push(token.0);
    }
    // Halved, 0 loses to 1; both halved, it wins again, and once more; then only 0 is in the window.
    assert_eq!(chosen, [0, 1, 0, 0]);
    assert_eq!(sampler.choose(&[-1.0, -1.1, -1.5], None), Some(TokenId(1)), "a negative logit is doubled");
}
