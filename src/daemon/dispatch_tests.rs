use proptest::prelude::*;

use super::*;
use crate::decode::engine::frames::{Constraint, Finish};
use crate::plan::{Key, Target};
use crate::scenario::Strategy;
use crate::store::CaseId;

fn profile() -> Arc<Profile> {
    Arc::new(crate::config::Config::parse(&[], std::path::Path::new(".")).unwrap().profile)
}

fn attempt(model: i64, n: i64) -> Attempt {
    Attempt {
        key: Key(format!("{model}/{n}")),
        model: ModelId(model),
        strategy: Strategy::P,
        repeat: 0,
        seed: 1,
        messages: Arc::default(),
        constraint: Constraint::None,
        targets: vec![Target { case: CaseId(n), revision: RevisionId(1) }],
        unsupported: None,
        n_errored: 0,
    }
}

fn generation(finish: Finish) -> Generation {
    Generation { finish, ..Generation::default() }
}

/// What a simulated worker and its daemon have seen.
#[derive(Default)]
struct World {
    loaded: bool,
    waiting: VecDeque<u64>,
    seated: Vec<u64>,
    /// Per key: how often it was recorded as done, and as errored.
    records: HashMap<String, (u32, u32)>,
    starts: Vec<ModelId>,
    /// Models said to come next, each once in a row.
    coming: Vec<ModelId>,
}

impl World {
    fn record(&mut self, attempt: &Attempt, finish: Finish) {
        let counts = self.records.entry(attempt.key.0.clone()).or_default();
        if finish == Finish::Errored { counts.1 += 1 } else { counts.0 += 1 }
    }

    /// Does all that `dispatch` wants done; true when it wants its worker to end.
    fn obey(&mut self, dispatch: &mut Dispatch) -> bool {
        loop {
            match dispatch.next() {
                Next::Start(model) => {
                    self.starts.push(model);
                    self.loaded = false;
                }
                Next::Feed(order) => self.waiting.push_back(order.id),
                Next::Retire => return true,
                Next::Wait => {
                    self.coming.extend(dispatch.coming());
                    self.coming.dedup();
                    return false;
                }
            }
        }
    }
}

/// Plays random events until nothing is left to do.
fn play(events: &[u8], slots: u32, n_models: i64, n_each: i64) -> (Dispatch, World) {
    let mut dispatch = Dispatch::new(profile(), (1..=n_models).map(ModelId).collect());
    dispatch.plan((1..=n_models).flat_map(|model| (0..n_each).map(move |n| attempt(model, n))).collect());
    let mut world = World::default();
    for event in events.iter().copied().cycle().take(20_000) {
        let retiring = world.obey(&mut dispatch);
        if dispatch.is_done() {
            break;
        }
        let dies = event % 16 == 0;
        if retiring || dies {
            let casualties = dispatch.on_gone("killed");
            assert!(
                !retiring || casualties.attempts.is_empty(),
                "nothing is in flight when it is told to end"
            );
            for attempt in &casualties.attempts {
                world.record(attempt, Finish::Errored);
            }
            world.waiting.clear();
            world.seated.clear();
            world.loaded = false;
        } else if !world.loaded {
            dispatch.on_loaded(slots);
            world.loaded = true;
        } else if event % 2 == 0 && world.seated.len() < slots as usize && !world.waiting.is_empty() {
            let id = world.waiting.pop_front().unwrap();
            dispatch.on_seated(id);
            world.seated.push(id);
        } else if !world.seated.is_empty() {
            let id = world.seated.remove(event as usize % world.seated.len());
            let finish = if event % 32 == 17 { Finish::Errored } else { Finish::Stop };
            let attempt = dispatch.on_done(id, &generation(finish)).expect("in flight");
            world.record(&attempt, finish);
        }
        assert!(dispatch.n_seated() <= slots as usize);
    }
    (dispatch, world)
}

proptest! {
    #[test]
    fn every_attempt_ends_once_as_done_or_twice_as_errored_whatever_dies(
        events in prop::collection::vec(any::<u8>(), 50..300), slots in 1u32..5, n_models in 1i64..4, n_each in 0i64..9,
    ) {
        // A stream in which nothing ever loads or ends cannot finish.
        prop_assume!(events.iter().any(|e| e % 16 != 0 && e % 2 == 0) && events.iter().any(|e| e % 2 == 1 && e % 32 != 17));
        let (dispatch, world) = play(&events, slots, n_models, n_each);
        prop_assert!(dispatch.is_done(), "still at work after 20,000 events");
        let abandoned = dispatch.given_up();
        for model in 1..=n_models {
            for n in 0..n_each {
                let (done, errored) = world.records.get(&format!("{model}/{n}")).copied().unwrap_or_default();
                let whole = (done == 1 && errored < MAX_TRIES) || (done == 0 && errored == MAX_TRIES);
                let given_up = abandoned.contains_key(&ModelId(model)) && done + errored <= MAX_TRIES;
                prop_assert!(whole || given_up, "{model}/{n}: done {done}, errored {errored}");
            }
        }
    }
}

#[test]
fn without_deaths_each_model_loads_once_in_order() {
    let (dispatch, world) = play(&[2, 2, 3, 2, 5], 2, 3, 7);
    assert!(dispatch.is_done() && dispatch.given_up().is_empty());
    assert_eq!(world.starts, [ModelId(1), ModelId(2), ModelId(3)]);
    assert_eq!(world.coming, world.starts[1..], "known while the one before is still at work");
    assert_eq!(world.records.values().copied().collect::<Vec<_>>(), [(1, 0); 21]);
}

#[test]
fn a_retry_runs_with_nothing_beside_it() {
    let mut dispatch = Dispatch::new(profile(), vec![ModelId(1)]);
    dispatch.plan((0..14).map(|n| attempt(1, n)).collect());
    let mut world = World::default();
    world.obey(&mut dispatch);
    dispatch.on_loaded(4);
    world.obey(&mut dispatch);
    assert_eq!(world.waiting.len(), 12, "four slots with three orders each");
    for id in [0, 1] {
        dispatch.on_seated(id);
    }
    assert_eq!(dispatch.on_gone("SIGKILL").attempts.len(), 2);
    for _ in 0..2 {
        world.waiting.clear();
        world.obey(&mut dispatch);
        dispatch.on_loaded(4);
        world.obey(&mut dispatch);
        assert_eq!(world.waiting.len(), 1, "alone");
        let id = world.waiting[0];
        dispatch.on_seated(id);
        assert!(dispatch.on_done(id, &generation(Finish::Stop)).is_some());
    }
    world.waiting.clear();
    world.obey(&mut dispatch);
    assert_eq!(world.waiting.len(), 12, "the others follow together");
}

#[test]
fn a_model_that_cannot_be_loaded_is_given_up_and_the_next_one_runs() {
    let mut dispatch = Dispatch::new(profile(), vec![ModelId(1), ModelId(2)]);
    dispatch.plan(vec![attempt(1, 0), attempt(2, 0)]);
    assert_eq!(dispatch.next(), Next::Start(ModelId(1)));
    dispatch.on_refused("no such file");
    assert_eq!(dispatch.next(), Next::Wait);
    dispatch.on_gone("ended");
    assert_eq!(dispatch.given_up()[&ModelId(1)], "no such file");
    assert_eq!(dispatch.next(), Next::Start(ModelId(2)));
    // This one dies while it loads, twice.
    assert!(dispatch.on_gone("SIGKILL").gives_up.is_none());
    assert_eq!(dispatch.next(), Next::Start(ModelId(2)));
    assert_eq!(dispatch.on_gone("SIGKILL").gives_up, Some(ModelId(2)));
    assert!(dispatch.is_done());
}

#[test]
fn draining_lets_seated_attempts_finish_and_starts_nothing() {
    let mut dispatch = Dispatch::new(profile(), vec![ModelId(1)]);
    dispatch.plan((0..6).map(|n| attempt(1, n)).collect());
    let mut world = World::default();
    world.obey(&mut dispatch);
    dispatch.on_loaded(2);
    world.obey(&mut dispatch);
    dispatch.on_seated(0);
    dispatch.drain();
    dispatch.on_drained();
    assert_eq!(dispatch.n_missing(), 6, "what was sent and not seated is still missing");
    assert_eq!(dispatch.next(), Next::Wait);
    assert!(dispatch.on_done(0, &generation(Finish::Stop)).is_some());
    assert_eq!(dispatch.next(), Next::Retire);
    dispatch.on_gone("ended");
    assert_eq!(dispatch.next(), Next::Wait);
}

#[test]
fn a_new_plan_reaches_what_is_in_flight() {
    let mut dispatch = Dispatch::new(profile(), vec![ModelId(1)]);
    dispatch.plan(vec![attempt(1, 0)]);
    let mut world = World::default();
    world.obey(&mut dispatch);
    dispatch.on_loaded(1);
    world.obey(&mut dispatch);
    let mut corrected = attempt(1, 0);
    corrected.targets[0].case = CaseId(77);
    dispatch.plan(vec![corrected]);
    assert_eq!(dispatch.n_missing(), 1, "it is under way, not to be sent twice");
    let ended = dispatch.on_done(0, &generation(Finish::Stop)).unwrap();
    assert_eq!(ended.targets[0].case, CaseId(77));
}

#[test]
fn a_model_that_dies_at_every_attempt_is_given_up_and_leaves_the_night_to_others() {
    let mut dispatch = Dispatch::new(profile(), vec![ModelId(1), ModelId(2)]);
    dispatch.plan((0..50).map(|n| attempt(1, n)).chain([attempt(2, 0)]).collect());
    let mut world = World::default();
    let mut deaths = 0;
    while world.starts.last() != Some(&ModelId(2)) {
        world.waiting.clear();
        world.obey(&mut dispatch);
        if world.starts.last() == Some(&ModelId(1)) {
            dispatch.on_loaded(2);
            world.obey(&mut dispatch);
            world.waiting.iter().take(2).for_each(|id| dispatch.on_seated(*id));
            dispatch.on_gone("SIGSEGV");
            deaths += 1;
        }
    }
    assert_eq!(deaths, 4, "two slots and two more");
    assert!(dispatch.given_up().contains_key(&ModelId(1)));
}
