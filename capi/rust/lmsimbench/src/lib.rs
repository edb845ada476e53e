//! The bench on which simulators of distributed language-model training are
//! scored, for Rust: measurements as columns, cost models and simulators as
//! traits, and the built-in ones beside them.
//!
//! A simulator of your own is a type with the trait [`Simulator`]. Ask it about
//! the measured runs with [`Answers::ask`] and score it with [`Scorecard::new`].
//! A cost model is a type with the trait [`CostModel`], which the five stages of
//! the pipeline run with, [`SimulatorHandle::staged`].
//!
//! Objects of the library are [`Owned`] or borrowed; what is read from them is
//! borrowed in turn and copied nowhere. Whatever can fail returns a [`Result`]
//! whose [`Error`] has the library's message. Times are seconds, sizes bytes; a
//! missing number is NaN, a missing count -1.
#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

#[macro_use]
mod owned;

mod answers;
mod batch;
mod bundle;
mod callback;
mod conformance;
mod cost_model;
mod error;
mod fields;
mod graph;
mod kinds;
mod measurements;
mod scorecard;
mod simulator;
mod threads;
mod values;
mod view;

pub use answers::{Answer, Answers, AskOptions, Progress};
pub use batch::{Collective, CollectiveBatch, Operator, OperatorBatch};
pub use bundle::Bundle;
pub use conformance::{check_cost_model, check_simulator};
pub use cost_model::{Cost, CostModel, CostModelHandle, Costs};
pub use error::{Code, Error, Result};
pub use fields::{FromField, ToField};
pub use graph::{Graph, Timeline};
pub use kinds::{
    CollectiveKind, Computation, Evidence, Group, OperatorKind, Pass, Precision, Verdict,
};
pub use measurements::{Measurements, Run, Selection};
pub use owned::Owned;
pub use scorecard::{sweep_margin, Figure, ScoreOptions, Scorecard};
pub use simulator::{Simulator, SimulatorHandle, Workspace};
pub use threads::{Local, Shared};
pub use values::{Config, Prediction, System, Workload};
pub use view::{Column, Entries, Strings, Table, View};

/// Release of the library that is loaded, "0.1.0".
pub fn version() -> &'static str {
    // SAFETY: the text lives for ever.
    unsafe { error::text(lmsimbench_sys::lmsb_version()) }
}

/// The README's example is compiled and run with the others.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
