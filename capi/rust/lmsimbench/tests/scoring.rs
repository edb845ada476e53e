//! Answers and scorecards.

use lmsimbench::*;
use std::ops::ControlFlow;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// The measurements, and what a built-in simulator says of them.
fn asked() -> (Owned<Measurements>, Owned<Answers>) {
    let bundle = Bundle::embedded().unwrap();
    let measurements = Measurements::open(&bundle).unwrap();
    let simulator = SimulatorHandle::built_in(&bundle, "naive-bubble").unwrap();
    let answers = Answers::ask(&simulator, &measurements, AskOptions::default());
    (measurements, answers.unwrap())
}

/// Numbers of a card, bit for bit, beside what they are of.
fn figures(card: &Scorecard) -> Vec<(String, String, String, u64)> {
    let table = card.figures().unwrap();
    let text = |name| table.strings(name).unwrap();
    let (source, subset, metric) = (text("source"), text("subset"), text("metric"));
    let values = table.f64("value").unwrap();
    (0..table.rows())
        .map(|row| {
            (
                source.get(row).to_string(),
                subset.get(row).to_string(),
                metric.get(row).to_string(),
                values[row].to_bits(),
            )
        })
        .collect()
}

#[test]
fn progress_reaches_the_total() {
    let bundle = Bundle::embedded().unwrap();
    let measurements = Measurements::open(&bundle).unwrap();
    let simulator = SimulatorHandle::built_in(&bundle, "naive-bubble").unwrap();
    let mut heard = Vec::new();
    let mut listen = |done, total| {
        heard.push((done, total));
        ControlFlow::Continue(())
    };
    let options = AskOptions {
        threads: 3,
        progress: Some(&mut listen),
        ..AskOptions::default()
    };
    Answers::ask(&simulator, &measurements, options).unwrap();
    let (done, total) = *heard.last().unwrap();
    assert_eq!(done, total);
    assert!(heard.windows(2).all(|pair| pair[0].0 <= pair[1].0));
}

#[test]
fn progress_can_cancel() {
    let bundle = Bundle::embedded().unwrap();
    let measurements = Measurements::open(&bundle).unwrap();
    let simulator = SimulatorHandle::built_in(&bundle, "naive-bubble").unwrap();
    let mut stop = |done, _| match done {
        0..=2 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let options = AskOptions {
        progress: Some(&mut stop),
        ..AskOptions::default()
    };
    let error = Answers::ask(&simulator, &measurements, options).unwrap_err();
    assert_eq!(error.code(), Code::Cancelled);
    assert!(error.message().contains("naive-bubble"), "{error}");
}

#[test]
fn a_panic_in_progress_goes_on_behind_the_call() {
    let bundle = Bundle::embedded().unwrap();
    let measurements = Measurements::open(&bundle).unwrap();
    let simulator = SimulatorHandle::built_in(&bundle, "naive-bubble").unwrap();
    let mut calls = 0;
    let panic = catch_unwind(AssertUnwindSafe(|| {
        let mut listen = |_, _| -> ControlFlow<()> {
            calls += 1;
            panic!("deaf")
        };
        let options = AskOptions {
            threads: 2,
            progress: Some(&mut listen),
            ..AskOptions::default()
        };
        Answers::ask(&simulator, &measurements, options)
    }))
    .unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"deaf"));
    assert_eq!(calls, 1);
}

#[test]
fn a_table_that_is_put_in_scores_as_the_simulator_it_came_from() {
    let (measurements, answers) = asked();
    let table = answers.table().unwrap();
    let text = |name| table.strings(name).unwrap();
    let (records, status, notes) = (text("record"), text("status"), text("notes"));
    let verdicts = text("verdict");
    let times = table.f64("iteration_time_s").unwrap();
    let memory = table.f64("peak_memory_bytes").unwrap();
    let rows: Vec<Answer<'_>> = (0..table.rows())
        .filter(|row| ["answered", "refused"].contains(&status.get(*row)))
        .map(|row| Answer {
            record: records.get(row),
            iteration_time_s: times[row],
            peak_memory_bytes: memory[row],
            verdict: match verdicts.get(row) {
                "fits" => Verdict::Fits,
                "does not fit" => Verdict::DoesNotFit,
                "illegal" => Verdict::Illegal,
                _ => Verdict::NotAnswered,
            },
            refusal: match status.get(row) {
                "refused" => notes.get(row),
                _ => "",
            },
        })
        .collect();
    assert!(rows.len() > 100);
    let mut again = Answers::new("naive-bubble", &measurements).unwrap();
    again.put(&rows).unwrap();

    let score = |answers: &Answers| {
        let options = ScoreOptions::default();
        figures(&Scorecard::new(&measurements, &[answers], &options).unwrap())
    };
    let expected = score(&answers);
    assert!(expected.len() > 10);
    assert_eq!(score(&again), expected);
}

#[test]
fn the_measured_times_themselves_have_no_error() {
    let bundle = Bundle::embedded().unwrap();
    let measurements = Measurements::open(&bundle).unwrap();
    let runs = measurements.run_table().unwrap();
    let (records, times) = (
        runs.strings("record").unwrap(),
        runs.f64("iteration_time_s").unwrap(),
    );
    let rows: Vec<Answer<'_>> = (0..runs.rows())
        .filter(|row| times[*row] > 0.0)
        .map(|row| Answer {
            record: records.get(row),
            iteration_time_s: times[row],
            ..Answer::default()
        })
        .collect();
    let mut truth = Answers::new("truth", &measurements).unwrap();
    truth.put(&rows).unwrap();
    let card = Scorecard::new(&measurements, &[&truth], &ScoreOptions::default()).unwrap();
    for metric in ["gmae", "regret@1"] {
        let figure = Figure {
            simulator: "truth",
            metric,
            ..Figure::default()
        };
        assert_eq!(card.figure(&figure).unwrap(), 0.0, "{metric}");
    }
    assert!(card.to_text().unwrap().contains("truth"));
    assert!(card.to_json().unwrap().starts_with('{'));
    assert!(card.settings().unwrap().rows() > 0);
    card.calibration().unwrap();
}

#[test]
fn a_table_with_a_fault_is_put_in_not_at_all() {
    let bundle = Bundle::embedded().unwrap();
    let measurements = Measurements::open(&bundle).unwrap();
    let record = measurements.runs().next().unwrap().record();
    let row = |record, iteration_time_s| Answer {
        record,
        iteration_time_s,
        ..Answer::default()
    };
    let mut answers = Answers::new("table", &measurements).unwrap();
    let unknown = answers.put(&[row(record, 1.0), row("no such run", 1.0)]);
    assert_eq!(unknown.unwrap_err().code(), Code::NotFound);
    let negative = answers.put(&[row(record, -1.0)]).unwrap_err();
    assert_eq!(negative.code(), Code::InvalidArgument);
    assert!(negative.message().contains(record), "{negative}");
    answers.put(&[]).unwrap();
    let twice = answers.put(&[row(record, 1.0), row(record, 1.0)]);
    assert_eq!(twice.unwrap_err().code(), Code::InvalidArgument);
    let nul = answers.put(&[row("a\0b", 1.0)]).unwrap_err();
    assert_eq!(nul.code(), Code::InvalidArgument);
    // Nothing was put in by any of them.
    answers.put(&[row(record, 1.0)]).unwrap();
}

#[test]
fn a_selection_of_nothing_is_an_error_that_names_it() {
    let (measurements, answers) = asked();
    let options = ScoreOptions {
        selection: Selection {
            source: "nobody",
            ..Selection::default()
        },
        ..ScoreOptions::default()
    };
    let error = Scorecard::new(&measurements, &[&answers], &options).unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.message().contains("'nobody'"), "{error}");
}

#[test]
fn a_figure_of_an_unknown_simulator_comes_with_the_nearest() {
    let (measurements, answers) = asked();
    let card = Scorecard::new(&measurements, &[&answers], &ScoreOptions::default()).unwrap();
    let figure = |simulator| {
        card.figure(&Figure {
            simulator,
            ..Figure::default()
        })
    };
    assert!(figure("naive-bubble").unwrap() > 0.0);
    let error = figure("naive-bubbl").unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.message().contains("naive-bubble"), "{error}");
}

#[test]
fn margins_are_swept_over_the_runs_of_fit() {
    let bundle = Bundle::embedded().unwrap();
    let measurements = Measurements::open(&bundle).unwrap();
    let simulator = SimulatorHandle::built_in(&bundle, "calculon").unwrap();
    let options = AskOptions {
        selection: Selection {
            split: "fit",
            ..Selection::default()
        },
        threads: 2,
        ..AskOptions::default()
    };
    let answers = Answers::ask(&simulator, &measurements, options).unwrap();
    let margins = [0.0, 0.1];
    let table = sweep_margin(&measurements, &answers, &margins, &ScoreOptions::default()).unwrap();
    assert_eq!(table.f64("margin").unwrap(), margins);
}

#[test]
fn predictions_are_read_from_a_file() {
    let bundle = Bundle::embedded().unwrap();
    let measurements = Measurements::open(&bundle).unwrap();
    let record = measurements.runs().next().unwrap().record();
    let folder = std::env::temp_dir();
    let path = folder.join(format!("lmsimbench-rust-{}.csv", std::process::id()));
    let text =
        format!("record_id,predicted_ms,predicted_mem_gib,verdict,notes\n{record},1500,,,\n");
    std::fs::write(&path, text).unwrap();
    let answers = Answers::read_csv(path.to_str().unwrap(), "file", &measurements);
    std::fs::remove_file(&path).unwrap();
    let table = answers.unwrap().table().unwrap();
    assert_eq!(table.strings("record").unwrap().get(0), record);
    assert_eq!(table.f64("iteration_time_s").unwrap()[0], 1.5);

    let missing = Answers::read_csv("/nowhere/at/all.csv", "file", &measurements);
    assert_eq!(missing.unwrap_err().code(), Code::NotFound);
}
