//! The objects that there are, and whether another is new. Draws nothing.

use std::collections::HashMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::dataset::{Kinds, canonical, leaves};

/// Objects by whom they belong to.
pub(super) struct Pool {
    kinds: Kinds,
    objects: Vec<Value>,
    /// Canonical text to the case that has it.
    whole: HashMap<String, String>,
    /// Path and value of identifying leaves to the case that has them.
    parts: HashMap<(String, String), String>,
}

impl Pool {
    /// A pool whose identifying leaves are those of the given objects. Each has the name that refusals give it.
    pub(super) fn new(schema: &Value, given: Vec<(String, Value)>) -> Self {
        let kinds = Kinds::of(Some(schema), given.iter().map(|(_, object)| object));
        let mut pool = Self { kinds, objects: Vec::new(), whole: HashMap::new(), parts: HashMap::new() };
        for (name, object) in given {
            pool.admit(&name, object);
        }
        pool
    }

    /// What is known of the leaves.
    pub(super) fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// Adds an object.
    pub(super) fn admit(&mut self, name: &str, object: Value) {
        self.whole.insert(canonical(&object), name.to_owned());
        for part in self.parts_of(&object) {
            self.parts.entry(part).or_insert_with(|| name.to_owned());
        }
        self.objects.push(object);
    }

    /// Why an object is not new: one that is there is equal to it, or others have one of its identifying leaves; more than half
    /// of them, where too few objects were given to know which leaves identify.
    pub(super) fn refusal(&self, object: &Value) -> Option<String> {
        if let Some(name) = self.whole.get(&canonical(object)) {
            return Some(format!("{name} is the same"));
        }
        let parts = self.parts_of(object);
        let mut taken = parts.iter().filter_map(|part| Some((self.parts.get(part)?, part)));
        let allowed = if self.kinds.is_sure() { 0 } else { parts.len() / 2 };
        let (name, part) = taken.nth(allowed)?;
        Some(format!("{name} has the same {}", part.0))
    }

    /// Some of the objects, other ones for every seed.
    pub(super) fn some(&self, count: usize, seed: u64) -> Vec<&Value> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut left: Vec<&Value> = self.objects.iter().collect();
        let mut chosen = Vec::new();
        while chosen.len() < count && !left.is_empty() {
            chosen.push(left.swap_remove(rng.random_range(0..left.len())));
        }
        chosen
    }

    fn parts_of(&self, object: &Value) -> Vec<(String, String)> {
        let identifying = leaves(object).into_iter().filter(|leaf| self.kinds.is_identifying(&leaf.path));
        let text = |value: &Value| value.as_str().map(str::to_lowercase);
        identifying.filter_map(|leaf| Some((leaf.path, text(leaf.value)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_is_new_when_nothing_that_identifies_it_is_taken() {
        let schema = json!({"properties": {"kind": {"enum": ["a", "b"]}}});
        let given = |name: &str, day: &str| json!({"name": name, "code": format!("c-{name}"), "kind": "a", "day": day, "n": 1});
        let many = (0..20).map(|n| (format!("no. {n}"), given(&format!("Ann {n}"), "01.01.2024")));
        let pool = Pool::new(&schema, many.collect());
        let table = [
            (
                json!({"day": "01.01.2024", "n": 1, "kind": "a", "code": "c-Ann 3", "name": "Ann 3"}),
                Some("no. 3 is the same"),
            ),
            (json!({"name": "ANN 7", "code": "other"}), Some("no. 7 has the same /name")),
            (given("Cy", "01.01.2024"), None),
            (json!({"name": null, "n": 2}), None),
        ];
        for (object, refusal) in table {
            assert_eq!(pool.refusal(&object).as_deref(), refusal, "{object}");
        }
    }

    #[test]
    fn with_one_example_a_word_may_come_again() {
        let ticket =
            |id: &str, severity: &str, what: &str| json!({"id": id, "severity": severity, "what": what});
        let mut pool = Pool::new(&json!({}), vec![("an example".into(), ticket("E1", "High", "printer"))]);
        for n in 0..5 {
            let object = ticket(&format!("F{n}"), "High", &format!("problem {n}"));
            assert_eq!(pool.refusal(&object), None, "{object}");
            pool.admit("another", object);
        }
        let table = [
            (ticket("E1", "High", "printer"), Some("an example is the same")),
            (ticket("E1", "High", "screen"), Some("an example has the same /severity")),
            (ticket("E1", "Low", "screen"), None),
        ];
        for (object, refusal) in table {
            assert_eq!(pool.refusal(&object).as_deref(), refusal, "{object}");
        }
    }

    #[test]
    fn what_is_shown_depends_on_the_seed_alone() {
        let pool = Pool::new(&json!({}), (0..9).map(|n| (n.to_string(), json!({"n": n}))).collect());
        assert_eq!(pool.some(3, 7), pool.some(3, 7));
        assert!((0..9).any(|seed| pool.some(3, seed) != pool.some(3, 7)));
        assert_eq!(pool.some(20, 1).len(), 9);
    }
}
