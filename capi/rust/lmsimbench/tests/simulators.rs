//! Simulators of Rust, beside those that are built in.

mod common;

use common::{question, Question};
use lmsimbench::*;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread::{self, ThreadId};

/// Does as a closure says.
struct Does<F>(F);

impl<F> Simulator for Does<F>
where
    F: Fn(&Workload, &System, &Config, &mut Prediction) -> Result<()>,
{
    fn name(&self) -> &str {
        "does"
    }
    fn predict(
        &self,
        workload: &Workload,
        system: &System,
        config: &Config,
        prediction: &mut Prediction,
    ) -> Result<()> {
        (self.0)(workload, system, config, prediction)
    }
}

fn does<F>(predict: F) -> Owned<SimulatorHandle>
where
    F: Fn(&Workload, &System, &Config, &mut Prediction) -> Result<()> + Send + Sync + 'static,
{
    SimulatorHandle::new(Does(predict)).unwrap()
}

fn ask<T>(simulator: &SimulatorHandle<T>, q: &Question) -> Result<Owned<Prediction>> {
    simulator.predict(&q.workload, &q.system, &q.config)
}

#[test]
fn a_prediction_is_the_same_with_a_workspace_and_on_any_thread() {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    for name in ["calculon", "staged", "naive-bubble"] {
        let simulator = SimulatorHandle::built_in(&bundle, name).unwrap();
        assert_eq!(simulator.name(), name);
        let expected = ask(&simulator, &q).unwrap().to_json().unwrap();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut workspace = Workspace::new().unwrap();
                    let mut prediction = Prediction::new().unwrap();
                    for _ in 0..2 {
                        simulator
                            .predict_into(
                                &q.workload,
                                &q.system,
                                &q.config,
                                &mut workspace,
                                &mut prediction,
                            )
                            .unwrap();
                        assert_eq!(prediction.to_json().unwrap(), expected);
                    }
                });
            }
        });
    }
}

#[test]
fn an_unknown_built_in_simulator_is_an_error_that_lists_them() {
    let bundle = Bundle::embedded().unwrap();
    let error = SimulatorHandle::built_in(&bundle, "").unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.message().contains("calculon"), "{error}");
}

#[test]
fn a_plugin_that_cannot_be_loaded_is_an_error() {
    // SAFETY: there is no code in it.
    let error = unsafe { SimulatorHandle::load("/nowhere/at/all.so") }.unwrap_err();
    assert!(error.message().contains("/nowhere/at/all.so"), "{error}");
}

#[test]
fn what_rust_answers_is_what_is_read() {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    let simulator = does(|workload, _, config, prediction| {
        assert_eq!(workload.get::<&str>("model.name")?, "LLaMA-7B");
        assert_eq!(config.get::<i64>("tp")?, 4);
        // What is not answered yet is missing.
        assert!(prediction.get::<f64>("iteration_time_s")?.is_nan());
        prediction.set("iteration_time_s", 1.5)?;
        prediction.set("peak_memory_bytes", 3e10)?;
        prediction.set("verdict", "fits")
    });
    let prediction = ask(&simulator, &q).unwrap();
    assert_eq!(prediction.get::<f64>("iteration_time_s").unwrap(), 1.5);
    assert_eq!(prediction.get::<f64>("peak_memory_bytes").unwrap(), 3e10);
    assert_eq!(prediction.get::<&str>("verdict").unwrap(), "fits");
}

#[test]
fn a_simulator_may_ask_another_within() {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    let calculon = || SimulatorHandle::built_in(&bundle, "calculon").unwrap();
    let expected: f64 = ask(&calculon(), &q)
        .unwrap()
        .get("iteration_time_s")
        .unwrap();
    let inner = calculon();
    let outer = does(move |workload, system, config, prediction| {
        let of_inner = inner.predict(workload, system, config)?;
        prediction.set("iteration_time_s", of_inner.get::<f64>("iteration_time_s")?)
    });
    let time: f64 = ask(&outer, &q).unwrap().get("iteration_time_s").unwrap();
    assert_eq!(time.to_bits(), expected.to_bits());
}

#[test]
fn a_refusal_arrives_with_its_kind_and_text_and_nothing_is_answered() {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    let simulator = does(|_, _, _, prediction| {
        prediction.set("iteration_time_s", 1.0)?;
        Err(Error::new(Code::Unimplemented, "no dense models"))
    });
    let mut prediction = Prediction::new().unwrap();
    let mut workspace = Workspace::new().unwrap();
    let error = simulator
        .predict_into(
            &q.workload,
            &q.system,
            &q.config,
            &mut workspace,
            &mut prediction,
        )
        .unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented);
    assert!(error.message().contains("no dense models"), "{error}");
    assert!(prediction.get::<f64>("iteration_time_s").unwrap().is_nan());
}

#[test]
fn a_panic_is_an_error_with_its_message() {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    let error = ask(&does(|_, _, _, _| panic!("no luck today")), &q).unwrap_err();
    assert_eq!(error.code(), Code::Internal);
    assert!(
        error.message().contains("predict panicked: no luck today"),
        "{error}"
    );
}

#[test]
fn a_panicking_simulator_fails_its_rows_and_the_card_is_finished() {
    let bundle = Bundle::embedded().unwrap();
    let measurements = Measurements::open(&bundle).unwrap();
    let simulator = does(|workload, _, _, prediction| {
        let layers: i64 = workload.get("model.layers")?;
        assert!(layers % 2 == 0, "{layers} layers are odd");
        prediction.set("iteration_time_s", 1.0)
    });
    let options = AskOptions {
        threads: 2,
        ..AskOptions::default()
    };
    let answers = Answers::ask(&simulator, &measurements, options).unwrap();
    let table = answers.table().unwrap();
    let (status, notes) = (
        table.strings("status").unwrap(),
        table.strings("notes").unwrap(),
    );
    let failed: Vec<_> = status
        .iter()
        .zip(notes.iter())
        .filter(|(status, _)| *status == "failed")
        .collect();
    assert!(!failed.is_empty());
    for (_, note) in failed {
        assert!(note.contains("layers are odd"), "{note}");
    }
    Scorecard::new(&measurements, &[&answers], &ScoreOptions::default()).unwrap();
}

#[test]
fn a_shared_simulator_says_the_same_by_one_thread_and_by_four() {
    let bundle = Bundle::embedded().unwrap();
    let measurements = Measurements::open(&bundle).unwrap();
    let simulator = does(|workload, _, _, prediction| {
        prediction.set("iteration_time_s", workload.get::<f64>("model.layers")?)
    });
    let times = |threads| {
        let options = AskOptions {
            threads,
            ..AskOptions::default()
        };
        let answers = Answers::ask(&simulator, &measurements, options).unwrap();
        let table = answers.table().unwrap();
        let times = table.f64("iteration_time_s").unwrap();
        times.iter().map(|time| time.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(times(1), times(4));
}

#[test]
fn a_local_simulator_is_asked_by_its_own_thread_alone() {
    struct Here(Rc<Cell<usize>>, ThreadId);
    impl Simulator for Here {
        fn name(&self) -> &str {
            "here"
        }
        fn predict(
            &self,
            _: &Workload,
            _: &System,
            _: &Config,
            prediction: &mut Prediction,
        ) -> Result<()> {
            assert_eq!(thread::current().id(), self.1);
            self.0.set(self.0.get() + 1);
            prediction.set("iteration_time_s", 1.0)
        }
    }
    let bundle = Bundle::embedded().unwrap();
    let measurements = Measurements::open(&bundle).unwrap();
    let asked = Rc::new(Cell::new(0));
    let here = Here(asked.clone(), thread::current().id());
    let simulator = SimulatorHandle::local(here).unwrap();
    let options = AskOptions {
        threads: 4,
        ..AskOptions::default()
    };
    let answers = Answers::ask(&simulator, &measurements, options).unwrap();
    let table = answers.table().unwrap();
    let status = table.strings("status").unwrap();
    let answered = status.iter().filter(|status| *status == "answered").count();
    assert!(answered > 0);
    assert_eq!(asked.get(), answered);
    drop(simulator);
    assert_eq!(Rc::strong_count(&asked), 1);
}

/// Counts its drops, and may panic in them.
struct Dropped {
    drops: Arc<AtomicUsize>,
    panics: bool,
}

impl Simulator for Dropped {
    fn name(&self) -> &str {
        "dropped"
    }
    fn predict(&self, _: &Workload, _: &System, _: &Config, _: &mut Prediction) -> Result<()> {
        panic!("before it is dropped");
    }
}

impl Drop for Dropped {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::SeqCst);
        if self.panics {
            panic!("while it is dropped");
        }
    }
}

#[test]
fn a_simulator_is_dropped_once_whatever_it_did() {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    for panics in [false, true] {
        let drops = Arc::new(AtomicUsize::new(0));
        let simulator = SimulatorHandle::new(Dropped {
            drops: drops.clone(),
            panics,
        })
        .unwrap();
        ask(&simulator, &q).unwrap_err();
        assert_eq!(drops.load(Ordering::SeqCst), 0);
        drop(simulator);
        assert_eq!(drops.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn a_shared_simulator_may_be_dropped_by_another_thread() {
    let drops = Arc::new(AtomicUsize::new(0));
    let simulator = SimulatorHandle::new(Dropped {
        drops: drops.clone(),
        panics: false,
    })
    .unwrap();
    thread::spawn(move || drop(simulator)).join().unwrap();
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

#[test]
fn swapping_what_was_lent_changes_nothing() {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    let simulator = does(|_, _, _, prediction| {
        let mut mine = Prediction::new()?;
        mine.set("iteration_time_s", 9.0)?;
        prediction.set("iteration_time_s", 2.0)?;
        std::mem::swap(prediction, &mut *mine);
        Ok(())
    });
    let time: f64 = ask(&simulator, &q)
        .unwrap()
        .get("iteration_time_s")
        .unwrap();
    assert_eq!(time, 2.0);
}
