//! Cost models of Rust in the pipeline.

mod common;

use common::question;
use lmsimbench::*;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// Passes every question on to a built-in model.
struct PassesOn(Owned<CostModelHandle>);

fn pass_on(of: &[Cost], costs: &mut Costs<'_>) {
    assert_eq!(of.len(), costs.len());
    for (index, cost) in of.iter().enumerate() {
        costs.answer(index, cost.seconds, cost.evidence);
    }
}

impl CostModel for PassesOn {
    fn name(&self) -> &str {
        "passes on"
    }
    fn operator_costs(
        &self,
        system: &System,
        operators: OperatorBatch<'_>,
        costs: &mut Costs<'_>,
    ) -> Result<()> {
        pass_on(&self.0.operators(system, operators)?, costs);
        Ok(())
    }
    fn collective_costs(
        &self,
        system: &System,
        collectives: CollectiveBatch<'_>,
        costs: &mut Costs<'_>,
    ) -> Result<()> {
        pass_on(&self.0.collectives(system, collectives)?, costs);
        Ok(())
    }
}

/// Does as a closure says for operators, and counts its drops.
struct Does<F> {
    operators: F,
    drops: Arc<AtomicUsize>,
}

impl<F: Fn(OperatorBatch<'_>, &mut Costs<'_>) -> Result<()>> CostModel for Does<F> {
    fn name(&self) -> &str {
        "does"
    }
    fn operator_costs(
        &self,
        _: &System,
        operators: OperatorBatch<'_>,
        costs: &mut Costs<'_>,
    ) -> Result<()> {
        (self.operators)(operators, costs)
    }
}

impl<F> Drop for Does<F> {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::SeqCst);
    }
}

fn does<F>(operators: F) -> Owned<CostModelHandle>
where
    F: Fn(OperatorBatch<'_>, &mut Costs<'_>) -> Result<()> + Send + Sync + 'static,
{
    let drops = Arc::default();
    CostModelHandle::new(Does { operators, drops }).unwrap()
}

/// The error of a model that is asked about one operator.
fn error_of(model: &CostModelHandle) -> Error {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    let error = model.operators(&q.system, &[Operator::default()][..]);
    error.unwrap_err()
}

#[test]
fn costs_that_are_passed_on_give_the_same_time_bit_for_bit() {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    let built_in = || CostModelHandle::built_in(&bundle, "staged").unwrap();
    let through_rust = CostModelHandle::new(PassesOn(built_in())).unwrap();
    let time = |simulator: &SimulatorHandle| -> f64 {
        let prediction = simulator.predict(&q.workload, &q.system, &q.config);
        prediction.unwrap().get("iteration_time_s").unwrap()
    };
    let direct = time(&SimulatorHandle::staged("direct", &built_in()).unwrap());
    assert!(direct > 0.0);
    assert_eq!(
        time(&SimulatorHandle::staged("passed on", &through_rust).unwrap()).to_bits(),
        direct.to_bits()
    );
    let simulator = SimulatorHandle::built_in(&bundle, "staged").unwrap();
    assert_eq!(time(&simulator).to_bits(), direct.to_bits());

    // Every operator on a timeline of its own takes the same time too.
    let graph = Graph::new(&q.workload, &q.system, &q.config).unwrap();
    let timeline = Timeline::new(&graph, &through_rust).unwrap();
    assert_eq!(timeline.iteration_time_s().to_bits(), direct.to_bits());
    let (slices, tasks) = (timeline.slices().unwrap(), graph.tasks().unwrap());
    assert_eq!(slices.rows(), tasks.rows());
    assert!(timeline.memory().unwrap().rows() > 0);
    assert!(timeline.to_perfetto().unwrap().starts_with('{'));
}

#[test]
fn a_slice_of_operators_is_asked_about_as_the_graphs_own_batch() {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    let graph = Graph::new(&q.workload, &q.system, &q.config).unwrap();
    let model = CostModelHandle::built_in(&bundle, "default").unwrap();

    let operators: Vec<Operator> = graph.operator_batch().iter().collect();
    assert_eq!(operators.len(), graph.operators().unwrap().rows());
    assert_eq!(
        model.operators(&q.system, &operators).unwrap(),
        model.operators(&q.system, graph.operator_batch()).unwrap()
    );
    let collectives: Vec<Collective> = graph.collective_batch().iter().collect();
    assert!(!collectives.is_empty());
    assert_eq!(
        model.collectives(&q.system, &collectives).unwrap(),
        model
            .collectives(&q.system, graph.collective_batch())
            .unwrap()
    );
    let none: &[Operator] = &[];
    assert!(model.operators(&q.system, none).unwrap().is_empty());
}

#[test]
fn a_batch_reads_as_the_graphs_table_says() {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    let graph = Graph::new(&q.workload, &q.system, &q.config).unwrap();
    let table = graph.operators().unwrap();
    let (m, causal) = (table.i64("m").unwrap(), table.i64("causal").unwrap());
    let flops = table.f64("flops").unwrap();
    let kinds = table.strings("kind").unwrap();
    for (row, operator) in graph.operator_batch().iter().enumerate() {
        assert_eq!(operator.m, m[row]);
        assert_eq!(i64::from(operator.causal), causal[row]);
        assert_eq!(operator.flops, flops[row]);
        assert_eq!(
            operator.kind == OperatorKind::Norm,
            kinds.get(row) == "norm"
        );
    }
    // Four heads in 32 of the model's are a quarter of them on each rank.
    let attention = graph
        .operator_batch()
        .iter()
        .find(|operator| operator.kind == OperatorKind::Attention);
    assert_eq!(attention.unwrap().heads, 32 / 4);
}

#[test]
fn what_one_model_leaves_another_is_asked() {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    // A power of two is the same number however it is printed or added.
    let eighth = does(|operators, costs| {
        for (index, operator) in operators.iter().enumerate() {
            if operator.kind == OperatorKind::Norm {
                costs.answer(index, 0.125, Evidence::Measured);
            }
        }
        Ok(())
    });
    let rest = does(|operators, costs| {
        for index in 0..operators.len() {
            costs.answer(index, 0.25, Evidence::Analytic);
        }
        Ok(())
    });
    let both = CostModelHandle::composite("both", &[&eighth, &rest]).unwrap();
    assert_eq!(both.name(), "both");
    let of = |kind| Operator {
        kind,
        ..Operator::default()
    };
    let operators = [of(OperatorKind::Norm), of(OperatorKind::Softmax)];
    let costs = both.operators(&q.system, &operators[..]).unwrap();
    assert_eq!(
        (costs[0].seconds, costs[0].evidence),
        (0.125, Evidence::Measured)
    );
    assert_eq!(
        (costs[1].seconds, costs[1].evidence),
        (0.25, Evidence::Analytic)
    );
    let alone = eighth.operators(&q.system, &operators[..]).unwrap();
    assert_eq!(alone[1].evidence, Evidence::NotAnswered);
    assert!(alone[1].seconds.is_nan());
}

#[test]
fn an_error_arrives_with_its_kind_and_text() {
    let model = does(|_, _| Err(Error::new(Code::Unavailable, "the oracle is asleep")));
    let error = error_of(&model);
    assert_eq!(error.code(), Code::Unavailable);
    assert!(error.message().contains("the oracle is asleep"), "{error}");
}

#[test]
fn a_panic_is_an_error_with_its_message_and_the_model_lives_on() {
    let calls = AtomicUsize::new(0);
    let model = does(move |_, costs| {
        if calls.fetch_add(1, Ordering::SeqCst) == 0 {
            panic!("no row {}", 7);
        }
        costs.answer(0, 0.5, Evidence::Analytic);
        Ok(())
    });
    let error = error_of(&model);
    assert_eq!(error.code(), Code::Internal);
    assert!(error.message().contains("panicked: no row 7"), "{error}");

    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    let costs = model.operators(&q.system, &[Operator::default()][..]);
    assert_eq!(costs.unwrap()[0].seconds, 0.5);
}

#[test]
fn a_panic_in_the_pipeline_is_the_simulators_error() {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    let simulator = SimulatorHandle::staged("bad", &does(|_, _| panic!("oh dear"))).unwrap();
    let error = simulator.predict(&q.workload, &q.system, &q.config);
    let error = error.unwrap_err();
    assert!(error.message().contains("panicked: oh dear"), "{error}");
}

#[test]
fn a_panic_without_a_text_is_an_error_too() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("while it is dropped");
        }
    }
    let number = error_of(&does(|_, _| std::panic::panic_any(7)));
    assert!(number.message().contains("panicked"), "{number}");
    let bomb = error_of(&does(|_, _| std::panic::panic_any(Bomb)));
    assert!(bomb.message().contains("panicked"), "{bomb}");
}

#[test]
fn an_answer_behind_the_last_entry_is_a_panic_and_writes_nothing() {
    let error = error_of(&does(|operators, costs| {
        costs.answer(operators.len(), 1.0, Evidence::Analytic);
        Ok(())
    }));
    assert!(error.message().contains("answer 1 of 1"), "{error}");
}

#[test]
fn an_answer_that_is_no_time_is_an_error() {
    for seconds in [f64::NAN, -1.0, f64::INFINITY] {
        let model = does(move |_, costs| {
            costs.answer(0, seconds, Evidence::Analytic);
            Ok(())
        });
        let error = error_of(&model);
        assert!(error.message().contains("does"), "{error}");
    }
}

#[test]
fn a_model_is_dropped_once_when_nothing_uses_it() {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    let drops = Arc::new(AtomicUsize::new(0));
    let model = CostModelHandle::new(Does {
        operators: |operators: OperatorBatch<'_>, costs: &mut Costs<'_>| {
            (0..operators.len()).for_each(|i| costs.answer(i, 0.001, Evidence::Analytic));
            Ok(())
        },
        drops: drops.clone(),
    })
    .unwrap();
    let formulas = CostModelHandle::built_in(&bundle, "collectives").unwrap();
    let both = CostModelHandle::composite("both", &[&model, &formulas]).unwrap();
    drop(model);
    let simulator = SimulatorHandle::staged("staged", &both).unwrap();
    drop(both);
    assert_eq!(drops.load(Ordering::SeqCst), 0);
    simulator
        .predict(&q.workload, &q.system, &q.config)
        .unwrap();
    drop(simulator);
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

#[test]
fn a_model_that_cannot_be_made_is_dropped_once() {
    struct Named(&'static str, Arc<AtomicUsize>);
    impl CostModel for Named {
        fn name(&self) -> &str {
            self.0
        }
    }
    impl Drop for Named {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::SeqCst);
        }
    }
    for name in ["", "with a \0 within"] {
        let drops = Arc::new(AtomicUsize::new(0));
        let error = CostModelHandle::new(Named(name, drops.clone())).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        assert_eq!(drops.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn a_model_that_stays_on_its_thread_works_beside_shared_ones() {
    struct Counts(Rc<Cell<usize>>);
    impl CostModel for Counts {
        fn name(&self) -> &str {
            "counts"
        }
        fn operator_costs(
            &self,
            _: &System,
            operators: OperatorBatch<'_>,
            _: &mut Costs<'_>,
        ) -> Result<()> {
            self.0.set(self.0.get() + operators.len());
            Ok(())
        }
    }
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    let asked = Rc::new(Cell::new(0));
    let counts = CostModelHandle::local(Counts(asked.clone())).unwrap();
    let rest = CostModelHandle::built_in(&bundle, "default").unwrap();
    let both = CostModelHandle::composite("both", &[&counts, rest.as_local()]).unwrap();
    let graph = Graph::new(&q.workload, &q.system, &q.config).unwrap();
    both.operators(&q.system, graph.operator_batch()).unwrap();
    assert_eq!(asked.get(), graph.operator_batch().len());
}

#[test]
fn a_model_meets_what_was_measured() {
    let bundle = Bundle::embedded().unwrap();
    let model = CostModelHandle::built_in(&bundle, "default").unwrap();
    let selection = Selection {
        platform: "a100-sxm4-80g",
        ..Selection::default()
    };
    let table = model.measured(&bundle, "gemms", &selection).unwrap();
    let measured = table.f64("measured_s").unwrap();
    let predicted = table.f64("predicted_s").unwrap();
    assert!(table.rows() > 100);
    for (predicted, measured) in predicted.iter().zip(measured) {
        assert!((predicted / measured).ln().abs() < 3.0);
    }
    let error = model.measured(&bundle, "ranks", &selection).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
}
