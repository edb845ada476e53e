//! Measurements, answers and scorecards.

use crate::{
    lmsb_bundle, lmsb_code, lmsb_config, lmsb_cost_model, lmsb_simulator, lmsb_system, lmsb_table, lmsb_text,
    lmsb_workload,
};
use std::os::raw::{c_char, c_void};

opaque! {
    lmsb_measurements,
    lmsb_answers,
    lmsb_scorecard,
}

pub const LMSB_VERDICT_NOT_ANSWERED: i32 = 0;
pub const LMSB_VERDICT_FITS: i32 = 1;
pub const LMSB_VERDICT_DOES_NOT_FIT: i32 = 2;
pub const LMSB_VERDICT_ILLEGAL: i32 = 3;

pub type lmsb_progress =
    Option<unsafe extern "C" fn(user: *mut c_void, done: usize, total: usize) -> i32>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lmsb_selection {
    pub struct_size: usize,
    pub split: *const c_char,
    pub source: *const c_char,
    pub platform: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lmsb_ask_options {
    pub struct_size: usize,
    pub selection: *const lmsb_selection,
    pub calibration_runs: i32,
    pub threads: i32,
    pub progress: lmsb_progress,
    pub progress_user: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lmsb_answer_columns {
    pub struct_size: usize,
    pub count: usize,
    pub records: *const *const c_char,
    pub iteration_time_s: *const f64,
    pub peak_memory_bytes: *const f64,
    pub verdicts: *const i32,
    pub refusals: *const *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lmsb_score_options {
    pub struct_size: usize,
    pub selection: *const lmsb_selection,
    pub memory_margin: f64,
    pub false_fit_cost: f64,
    pub false_refusal_cost: f64,
}

extern "C" {
    pub fn lmsb_measurements_open(
        out: *mut *mut lmsb_measurements,
        bundle: *const lmsb_bundle,
    ) -> lmsb_code;
    pub fn lmsb_measurements_free(measurements: *mut lmsb_measurements);
    pub fn lmsb_measurements_run_count(measurements: *const lmsb_measurements) -> usize;
    pub fn lmsb_measurements_record(
        measurements: *const lmsb_measurements,
        run: usize,
    ) -> *const c_char;
    pub fn lmsb_measurements_run_workload(
        measurements: *const lmsb_measurements,
        run: usize,
    ) -> *const lmsb_workload;
    pub fn lmsb_measurements_run_config(
        measurements: *const lmsb_measurements,
        run: usize,
    ) -> *const lmsb_config;
    pub fn lmsb_measurements_run_system(
        out: *mut *mut lmsb_system,
        measurements: *const lmsb_measurements,
        run: usize,
    ) -> lmsb_code;
    pub fn lmsb_measurements_find(
        measurements: *const lmsb_measurements,
        record: *const c_char,
        record_length: usize,
        run: *mut usize,
    ) -> lmsb_code;
    pub fn lmsb_cost_model_measured(
        model: *const lmsb_cost_model,
        bundle: *const lmsb_bundle,
        view: *const c_char,
        view_length: usize,
        selection: *const lmsb_selection,
        out: *mut *mut lmsb_table,
    ) -> lmsb_code;
    pub fn lmsb_measurements_runs(
        measurements: *const lmsb_measurements,
        out: *mut *mut lmsb_table,
    ) -> lmsb_code;
    pub fn lmsb_measurements_settings(
        measurements: *const lmsb_measurements,
        out: *mut *mut lmsb_table,
    ) -> lmsb_code;
    pub fn lmsb_answers_ask(
        out: *mut *mut lmsb_answers,
        simulator: *const lmsb_simulator,
        measurements: *const lmsb_measurements,
        options: *const lmsb_ask_options,
    ) -> lmsb_code;
    pub fn lmsb_answers_new(
        out: *mut *mut lmsb_answers,
        name: *const c_char,
        name_length: usize,
        measurements: *const lmsb_measurements,
    ) -> lmsb_code;
    pub fn lmsb_answers_put(
        answers: *mut lmsb_answers,
        columns: *const lmsb_answer_columns,
    ) -> lmsb_code;
    pub fn lmsb_answers_read_csv(
        out: *mut *mut lmsb_answers,
        path: *const c_char,
        path_length: usize,
        name: *const c_char,
        name_length: usize,
        measurements: *const lmsb_measurements,
    ) -> lmsb_code;
    pub fn lmsb_answers_free(answers: *mut lmsb_answers);
    pub fn lmsb_answers_table(answers: *const lmsb_answers, out: *mut *mut lmsb_table)
        -> lmsb_code;
    pub fn lmsb_score(
        out: *mut *mut lmsb_scorecard,
        measurements: *const lmsb_measurements,
        answers: *const *const lmsb_answers,
        answer_count: usize,
        options: *const lmsb_score_options,
    ) -> lmsb_code;
    pub fn lmsb_scorecard_free(card: *mut lmsb_scorecard);
    pub fn lmsb_scorecard_figure(
        card: *const lmsb_scorecard,
        simulator: *const c_char,
        simulator_length: usize,
        source: *const c_char,
        source_length: usize,
        subset: *const c_char,
        subset_length: usize,
        metric: *const c_char,
        metric_length: usize,
        shared: i32,
        value: *mut f64,
    ) -> lmsb_code;
    pub fn lmsb_scorecard_figures(
        card: *const lmsb_scorecard,
        out: *mut *mut lmsb_table,
    ) -> lmsb_code;
    pub fn lmsb_scorecard_settings(
        card: *const lmsb_scorecard,
        out: *mut *mut lmsb_table,
    ) -> lmsb_code;
    pub fn lmsb_scorecard_calibration(
        card: *const lmsb_scorecard,
        out: *mut *mut lmsb_table,
    ) -> lmsb_code;
    pub fn lmsb_scorecard_to_json(
        card: *const lmsb_scorecard,
        out: *mut *mut lmsb_text,
    ) -> lmsb_code;
    pub fn lmsb_scorecard_to_text(
        card: *const lmsb_scorecard,
        out: *mut *mut lmsb_text,
    ) -> lmsb_code;
    pub fn lmsb_sweep_margin(
        measurements: *const lmsb_measurements,
        answers: *const lmsb_answers,
        margins: *const f64,
        margin_count: usize,
        options: *const lmsb_score_options,
        out: *mut *mut lmsb_table,
    ) -> lmsb_code;
}
