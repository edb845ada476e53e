//! Cost models: they map operators and collectives to seconds.

use crate::batch::{CollectiveBatch, OperatorBatch};
use crate::bundle::Bundle;
use crate::callback::{answer, destroy};
use crate::error::{c_text, check, text, Result};
use crate::kinds::Evidence;
use crate::measurements::{RawSelection, Selection};
use crate::owned::{Object, Owned};
use crate::threads::{Local, Shared};
use crate::values::System;
use crate::view::{begin, Table};
use lmsimbench_sys as sys;
use std::ffi::CStr;
use std::fmt;
use std::marker::PhantomData;
use std::mem::size_of;
use std::os::raw::c_void;

/// A cost model written in Rust.
///
/// What a function does not answer another model may be asked, see
/// [`CostModelHandle::composite`]. The same question has to get the same answer.
/// An error ends the call that needed the costs; so does a panic, whose message
/// arrives as an error of the kind [`Code::Internal`](crate::Code::Internal).
pub trait CostModel {
    /// Name in messages and in print; asked for once.
    fn name(&self) -> &str;

    /// Answers what the operators of a batch cost on one device of the system.
    fn operator_costs(
        &self,
        system: &System,
        operators: OperatorBatch<'_>,
        costs: &mut Costs<'_>,
    ) -> Result<()> {
        let _ = (system, operators, costs);
        Ok(())
    }

    /// Answers what the collectives of a batch cost.
    fn collective_costs(
        &self,
        system: &System,
        collectives: CollectiveBatch<'_>,
        costs: &mut Costs<'_>,
    ) -> Result<()> {
        let _ = (system, collectives, costs);
        Ok(())
    }
}

/// What one operator or collective costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Seconds; NaN where there is no answer.
    pub seconds: f64,
    /// What they rest on.
    pub evidence: Evidence,
}

/// Where a cost model puts its answers, one for each entry of the batch. None is
/// answered at first.
#[derive(Debug)]
pub struct Costs<'a> {
    seconds: *mut f64,
    evidence: *mut i32,
    len: usize,
    borrowed: PhantomData<&'a mut f64>,
}

impl Costs<'_> {
    /// How many entries the batch has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Answers the entry with this index; seconds that are negative or not finite
    /// are an error in the end. Panics behind the last entry.
    pub fn answer(&mut self, index: usize, seconds: f64, evidence: Evidence) {
        assert!(index < self.len, "answer {index} of {}", self.len);
        // SAFETY: both arrays have `len` entries, which nobody else uses now.
        unsafe {
            self.seconds.add(index).write(seconds);
            self.evidence.add(index).write(evidence as i32);
        }
    }
}

/// A cost model that can be asked and that the pipeline runs with: a built-in
/// one, one of Rust, or several in turn.
#[repr(C)]
pub struct CostModelHandle<T = Shared> {
    raw: sys::lmsb_cost_model,
    threads: PhantomData<T>,
}

// SAFETY: it holds nothing but a type without size; its own function frees it.
unsafe impl<T> Object for CostModelHandle<T> {
    type Raw = sys::lmsb_cost_model;
    const FREE: unsafe extern "C" fn(*mut sys::lmsb_cost_model) = sys::lmsb_cost_model_free;
}

// SAFETY: a shared model is built in, or made of what is Send.
unsafe impl Send for CostModelHandle<Shared> {}
// SAFETY: a shared model is built in, or made of what is Sync.
unsafe impl Sync for CostModelHandle<Shared> {}

impl CostModelHandle<Shared> {
    /// A model of Rust that several threads may ask at once. It is dropped, once,
    /// when the handle and all that was made of it are.
    pub fn new(model: impl CostModel + Send + Sync + 'static) -> Result<Owned<Self>> {
        make(model, true)
    }

    /// A built-in model: "default", the best evidence of the bundle; "staged", the
    /// same with the dispatch of a framework; "roofline" and "collectives",
    /// formulas; "tables", the measurements of the bundle alone.
    pub fn built_in(bundle: &Bundle, name: &str) -> Result<Owned<Self>> {
        // SAFETY: makes a model; the name is read during the call only.
        unsafe {
            Owned::make(|out| {
                sys::lmsb_cost_model_built_in(out, bundle.raw(), begin(name), name.len())
            })
        }
    }

    /// The same where one that stays on its thread is wanted, beside others that
    /// do.
    pub fn as_local(&self) -> &CostModelHandle<Local> {
        let handle: *const Self = self;
        // SAFETY: the two types differ in what they promise only, and this one
        // promises less.
        unsafe { &*handle.cast() }
    }
}

impl CostModelHandle<Local> {
    /// A model of Rust that stays on this thread.
    ///
    /// ```compile_fail,E0277
    /// # use lmsimbench::*;
    /// # fn f(model: Owned<CostModelHandle<Local>>) {
    /// std::thread::spawn(move || drop(model)); // error: it cannot be sent
    /// # }
    /// ```
    pub fn local(model: impl CostModel + 'static) -> Result<Owned<Self>> {
        make(model, false)
    }
}

impl<T> CostModelHandle<T> {
    /// Asks its parts in turn: each is asked what all before it did not answer.
    pub fn composite(name: &str, parts: &[&CostModelHandle<T>]) -> Result<Owned<Self>> {
        let raw: Vec<_> = parts.iter().map(|part| part.raw()).collect();
        // SAFETY: makes a model; all that is read is read during the call only.
        unsafe {
            Owned::make(|out| {
                sys::lmsb_cost_model_composite(
                    out,
                    begin(name),
                    name.len(),
                    raw.as_ptr(),
                    raw.len(),
                )
            })
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        // SAFETY: the name lives as long as the model.
        unsafe { text(sys::lmsb_cost_model_name(self.raw())) }
    }

    /// Asks about the measured rows of a view ("gemms", "operators",
    /// "collectives"), as a unit test does, and sets what it says beside what was
    /// measured: row (of the view), source, platform, split, category, shape,
    /// measured_s, predicted_s (NaN: not answered), evidence, refusal.
    pub fn measured(
        &self,
        bundle: &Bundle,
        view: &str,
        selection: &Selection<'_>,
    ) -> Result<Table> {
        let raw = RawSelection::new(selection)?;
        // SAFETY: makes a table; all that is read is read during the call only.
        unsafe {
            Table::make(|out| {
                sys::lmsb_cost_model_measured(
                    self.raw(),
                    bundle.raw(),
                    begin(view),
                    view.len(),
                    &raw.raw(),
                    out,
                )
            })
        }
    }

    /// Asks what operators cost; [`Evidence::NotAnswered`] where it does not know.
    pub fn operators<'a>(
        &self,
        system: &System,
        operators: impl Into<OperatorBatch<'a>>,
    ) -> Result<Vec<Cost>> {
        let batch = operators.into();
        ask(batch.len(), |seconds, evidence| {
            // SAFETY: all live; both arrays have as many entries as the batch.
            unsafe {
                sys::lmsb_cost_model_operators(
                    self.raw(),
                    system.raw(),
                    batch.raw(),
                    seconds,
                    evidence,
                )
            }
        })
    }

    /// Asks what collectives cost; [`Evidence::NotAnswered`] where it does not
    /// know.
    pub fn collectives<'a>(
        &self,
        system: &System,
        collectives: impl Into<CollectiveBatch<'a>>,
    ) -> Result<Vec<Cost>> {
        let batch = collectives.into();
        ask(batch.len(), |seconds, evidence| {
            // SAFETY: all live; both arrays have as many entries as the batch.
            unsafe {
                sys::lmsb_cost_model_collectives(
                    self.raw(),
                    system.raw(),
                    batch.raw(),
                    seconds,
                    evidence,
                )
            }
        })
    }

    pub(crate) fn raw(&self) -> *const sys::lmsb_cost_model {
        &self.raw
    }
}

impl<T> fmt::Debug for CostModelHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CostModelHandle")
            .field(&self.name())
            .finish()
    }
}

fn ask(count: usize, ask: impl FnOnce(*mut f64, *mut i32) -> sys::lmsb_code) -> Result<Vec<Cost>> {
    let mut seconds = vec![f64::NAN; count];
    let mut evidence = vec![sys::LMSB_EVIDENCE_NOT_ANSWERED; count];
    check(ask(seconds.as_mut_ptr(), evidence.as_mut_ptr()))?;
    let costs = seconds.into_iter().zip(evidence);
    Ok(costs
        .map(|(seconds, evidence)| Cost {
            seconds,
            evidence: Evidence::of_number(evidence),
        })
        .collect())
}

fn make<M: CostModel + 'static, T>(
    model: M,
    thread_safe: bool,
) -> Result<Owned<CostModelHandle<T>>> {
    let name = c_text(model.name(), "name")?;
    let user = Box::into_raw(Box::new(model));
    let functions = functions_of(user, &name, thread_safe);
    // SAFETY: makes a model; the struct and the name are copied.
    let made = unsafe { Owned::make(|out| sys::lmsb_cost_model_new(out, &functions)) };
    if made.is_err() {
        // SAFETY: what could not be made does not destroy.
        drop(unsafe { Box::from_raw(user) });
    }
    made
}

pub(crate) fn functions_of<M: CostModel>(
    user: *mut M,
    name: &CStr,
    thread_safe: bool,
) -> sys::lmsb_cost_model_functions {
    sys::lmsb_cost_model_functions {
        struct_size: size_of::<sys::lmsb_cost_model_functions>(),
        user: user.cast(),
        name: name.as_ptr(),
        thread_safe: thread_safe.into(),
        reserved: 0,
        operator_costs: Some(operator_costs::<M>),
        collective_costs: Some(collective_costs::<M>),
        destroy: Some(destroy::<M>),
    }
}

/// # Safety
/// Called by the library with the `user` of an `M`.
unsafe extern "C" fn operator_costs<M: CostModel>(
    user: *mut c_void,
    system: *const sys::lmsb_system,
    operators: *const sys::lmsb_operator_batch,
    seconds: *mut f64,
    evidence: *mut i32,
    error: *mut sys::lmsb_error,
) -> sys::lmsb_code {
    // SAFETY: the library's arguments live as long as this call; the answers
    // have as many entries as the batch.
    unsafe {
        answer("operator_costs", error, || {
            let batch = OperatorBatch::borrow(operators);
            let mut costs = Costs {
                seconds,
                evidence,
                len: batch.len(),
                borrowed: PhantomData,
            };
            (*user.cast::<M>()).operator_costs(&*system.cast(), batch, &mut costs)
        })
    }
}

/// # Safety
/// Called by the library with the `user` of an `M`.
unsafe extern "C" fn collective_costs<M: CostModel>(
    user: *mut c_void,
    system: *const sys::lmsb_system,
    collectives: *const sys::lmsb_collective_batch,
    seconds: *mut f64,
    evidence: *mut i32,
    error: *mut sys::lmsb_error,
) -> sys::lmsb_code {
    // SAFETY: as for operators.
    unsafe {
        answer("collective_costs", error, || {
            let batch = CollectiveBatch::borrow(collectives);
            let mut costs = Costs {
                seconds,
                evidence,
                len: batch.len(),
                borrowed: PhantomData,
            };
            (*user.cast::<M>()).collective_costs(&*system.cast(), batch, &mut costs)
        })
    }
}
