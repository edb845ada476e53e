//! Simulators scored on a selection of runs.

use crate::answers::Answers;
use crate::error::{check, made_text, Result};
use crate::measurements::{Measurements, RawSelection, Selection};
use crate::owned::Owned;
use crate::view::{begin, Table};
use lmsimbench_sys as sys;
use std::mem::size_of;

object! {
    /// Simulators scored on a selection of runs.
    Scorecard, lmsb_scorecard, lmsb_scorecard_free
}
debug_by_name!(Scorecard);

// SAFETY: a card is only ever read, by any thread.
unsafe impl Send for Scorecard {}
// SAFETY: as above.
unsafe impl Sync for Scorecard {}

/// What to score, and the choices that the definitions leave open.
#[derive(Clone, Copy, Debug)]
pub struct ScoreOptions<'a> {
    /// Which runs.
    pub selection: Selection<'a>,
    /// A configuration fits where its predicted peak, raised by this fraction, is
    /// at most the device's memory.
    pub memory_margin: f64,
    /// Cost of a configuration said to fit that fails.
    pub false_fit_cost: f64,
    /// Cost of a configuration refused that runs.
    pub false_refusal_cost: f64,
}

impl Default for ScoreOptions<'_> {
    /// All runs of the split "test", no margin, costs of 5 and 1.
    fn default() -> Self {
        ScoreOptions {
            selection: Selection::default(),
            memory_margin: 0.0,
            false_fit_cost: 5.0,
            false_refusal_cost: 1.0,
        }
    }
}

impl ScoreOptions<'_> {
    /// Calls with the options as the C interface takes them.
    fn with_raw<R>(&self, call: impl FnOnce(*const sys::lmsb_score_options) -> R) -> Result<R> {
        let texts = RawSelection::new(&self.selection)?;
        let selection = texts.raw();
        Ok(call(&sys::lmsb_score_options {
            struct_size: size_of::<sys::lmsb_score_options>(),
            selection: &selection,
            memory_margin: self.memory_margin,
            false_fit_cost: self.false_fit_cost,
            false_refusal_cost: self.false_refusal_cost,
        }))
    }
}

/// Which figure of a card.
#[derive(Clone, Copy, Debug)]
pub struct Figure<'a> {
    /// Of this simulator.
    pub simulator: &'a str,
    /// On the runs of this source; "ALL": every run together.
    pub source: &'a str,
    /// On this subset of them.
    pub subset: &'a str,
    /// "gmae", "regret@1", …
    pub metric: &'a str,
    /// Only on the runs that every simulator answered.
    pub shared: bool,
}

impl Default for Figure<'_> {
    /// The geometric mean absolute error on the headline of all sources, of no
    /// simulator yet.
    fn default() -> Self {
        Figure {
            simulator: "",
            source: "ALL",
            subset: "headline",
            metric: "gmae",
            shared: false,
        }
    }
}

impl Scorecard {
    /// Scores what simulators said of the same measurements.
    pub fn new(
        measurements: &Measurements,
        answers: &[&Answers],
        options: &ScoreOptions<'_>,
    ) -> Result<Owned<Scorecard>> {
        let raw: Vec<_> = answers.iter().map(|of| of.raw()).collect();
        options.with_raw(|options| {
            // SAFETY: makes a card; all arguments live during the call.
            unsafe {
                Owned::make(|out| {
                    sys::lmsb_score(out, measurements.raw(), raw.as_ptr(), raw.len(), options)
                })
            }
        })?
    }

    /// One figure; NaN if it is undefined or not there.
    pub fn figure(&self, figure: &Figure<'_>) -> Result<f64> {
        let mut value = f64::NAN;
        // SAFETY: the card lives; the texts are read during the call only.
        check(unsafe {
            sys::lmsb_scorecard_figure(
                self.raw(),
                begin(figure.simulator),
                figure.simulator.len(),
                begin(figure.source),
                figure.source.len(),
                begin(figure.subset),
                figure.subset.len(),
                begin(figure.metric),
                figure.metric.len(),
                figure.shared.into(),
                &mut value,
            )
        })?;
        Ok(value)
    }

    /// All figures: simulator, shared (1 or 0), source, subset, metric, value,
    /// rows, settings_defined, settings_excluded.
    pub fn figures(&self) -> Result<Table> {
        // SAFETY: makes a table.
        unsafe { Table::make(|out| sys::lmsb_scorecard_figures(self.raw(), out)) }
    }

    /// Every setting: simulator, workload, source, platform, model, devices, rows,
    /// configurations, answered, and one column a figure.
    pub fn settings(&self) -> Result<Table> {
        // SAFETY: makes a table.
        unsafe { Table::make(|out| sys::lmsb_scorecard_settings(self.raw(), out)) }
    }

    /// Factors of calibration: simulator, platform, factor, rows.
    pub fn calibration(&self) -> Result<Table> {
        // SAFETY: makes a table.
        unsafe { Table::make(|out| sys::lmsb_scorecard_calibration(self.raw(), out)) }
    }

    /// The whole card.
    pub fn to_json(&self) -> Result<String> {
        // SAFETY: makes a text.
        unsafe { made_text(|out| sys::lmsb_scorecard_to_json(self.raw(), out)) }
    }

    /// The card for a terminal of 120 columns.
    pub fn to_text(&self) -> Result<String> {
        // SAFETY: makes a text.
        unsafe { made_text(|out| sys::lmsb_scorecard_to_text(self.raw(), out)) }
    }
}

/// What margins would do to the verdicts, on runs of the split `fit`: margin,
/// cost_score, false_fit, false_refusal.
pub fn sweep_margin(
    measurements: &Measurements,
    answers: &Answers,
    margins: &[f64],
    options: &ScoreOptions<'_>,
) -> Result<Table> {
    options.with_raw(|options| {
        // SAFETY: makes a table; all arguments live during the call.
        unsafe {
            Table::make(|out| {
                sys::lmsb_sweep_margin(
                    measurements.raw(),
                    answers.raw(),
                    margins.as_ptr(),
                    margins.len(),
                    options,
                    out,
                )
            })
        }
    })?
}
