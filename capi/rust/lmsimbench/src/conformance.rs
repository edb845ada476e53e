//! Checks of cost models and simulators of one's own.

use crate::bundle::Bundle;
use crate::cost_model::{self, CostModel};
use crate::error::{c_text, check, text_and_free, Code, Error, Result};
use crate::simulator::{self, Simulator};
use lmsimbench_sys as sys;
use std::ptr;

/// Runs a cost model through questions of every kind, edge cases among them. An
/// error of the kind [`Code::FailedPrecondition`] says in words what it gets
/// wrong, one fault a line with a question that shows it: answers that are no
/// times, implausible, or dependent on batch, order, repetition or thread. For a
/// unit test of the model.
///
/// It cannot see a function that never returns, or a data race that changes no
/// answer.
pub fn check_cost_model<M: CostModel + Sync>(bundle: &Bundle, model: &M) -> Result<()> {
    let name = c_text(model.name(), "name")?;
    let user: *const M = model;
    let mut functions = cost_model::functions_of(user as *mut M, &name, true);
    functions.destroy = None;
    report(|out| {
        // SAFETY: the model lives during the call, is only read, by threads that
        // share it, and is not destroyed.
        unsafe { sys::lmsb_cost_model_check(out, bundle.raw(), &functions) }
    })
}

/// The same for a simulator, whose parts have to sum to the whole and whose
/// verdict has to agree with its memory.
pub fn check_simulator<S: Simulator + Sync>(bundle: &Bundle, simulator: &S) -> Result<()> {
    let name = c_text(simulator.name(), "name")?;
    let user: *const S = simulator;
    let mut functions = simulator::functions_of(user as *mut S, &name, true);
    functions.destroy = None;
    report(|out| {
        // SAFETY: the simulator lives during the call, is only read, by threads
        // that share it, and is not destroyed.
        unsafe { sys::lmsb_simulator_check(out, bundle.raw(), &functions) }
    })
}

/// The report of a check, if it has found a fault, as an error.
fn report(run: impl FnOnce(*mut *mut sys::lmsb_text) -> sys::lmsb_code) -> Result<()> {
    let mut raw: *mut sys::lmsb_text = ptr::null_mut();
    let result = check(run(&mut raw));
    if raw.is_null() {
        return result;
    }
    // SAFETY: the check has made this text, and nobody uses it afterwards.
    let report = unsafe { text_and_free(raw) };
    result.map_err(|error| match error.code() {
        Code::FailedPrecondition => Error::new(Code::FailedPrecondition, report),
        _ => error,
    })
}
