//! Simulators: they map a workload, a system and a configuration to a prediction.

use crate::bundle::Bundle;
use crate::callback::{answer, destroy};
use crate::cost_model::CostModelHandle;
use crate::error::{c_text, check, text, Result};
use crate::owned::{Object, Owned};
use crate::threads::{Local, Shared};
use crate::values::{Config, Prediction, System, Workload};
use crate::view::begin;
use lmsimbench_sys as sys;
use std::ffi::CStr;
use std::fmt;
use std::marker::PhantomData;
use std::mem::size_of;
use std::os::raw::c_void;
use std::ptr;

/// A simulator written in Rust.
pub trait Simulator {
    /// Name under which it is scored; asked for once.
    fn name(&self) -> &str;

    /// Fills the fields of `prediction` that it answers; none is at first.
    ///
    /// What it cannot express it refuses with
    /// [`Code::Unimplemented`](crate::Code::Unimplemented), what lacks a figure
    /// with [`Code::FailedPrecondition`](crate::Code::FailedPrecondition), what
    /// cannot run with [`Code::InvalidArgument`](crate::Code::InvalidArgument);
    /// every other error is a failure, and so is a panic, whose message is the
    /// error's. The same question has to get the same answer.
    fn predict(
        &self,
        workload: &Workload,
        system: &System,
        config: &Config,
        prediction: &mut Prediction,
    ) -> Result<()>;
}

/// Memory that repeated predictions reuse; one a thread.
///
/// ```compile_fail,E0277
/// fn shared_by_threads<T: Sync>() {}
/// shared_by_threads::<lmsimbench::Workspace>(); // error: not Sync
/// ```
#[repr(transparent)]
pub struct Workspace(sys::lmsb_workspace);
debug_by_name!(Workspace);

// SAFETY: transparent around a type without size; its own function frees it.
unsafe impl Object for Workspace {
    type Raw = sys::lmsb_workspace;
    const FREE: unsafe extern "C" fn(*mut sys::lmsb_workspace) = sys::lmsb_workspace_free;
}
// SAFETY: nothing ties a workspace to its thread.
unsafe impl Send for Workspace {}

impl Workspace {
    /// A workspace that holds nothing yet.
    pub fn new() -> Result<Owned<Workspace>> {
        // SAFETY: makes a workspace.
        unsafe { Owned::make(|out| sys::lmsb_workspace_new(out)) }
    }
}

/// A simulator that can be asked and scored: a built-in one, one of Rust, or the
/// five stages with a cost model.
#[repr(C)]
pub struct SimulatorHandle<T = Shared> {
    raw: sys::lmsb_simulator,
    threads: PhantomData<T>,
}

// SAFETY: it holds nothing but a type without size; its own function frees it.
unsafe impl<T> Object for SimulatorHandle<T> {
    type Raw = sys::lmsb_simulator;
    const FREE: unsafe extern "C" fn(*mut sys::lmsb_simulator) = sys::lmsb_simulator_free;
}

// SAFETY: a shared simulator is built in, or made of what is Send.
unsafe impl Send for SimulatorHandle<Shared> {}
// SAFETY: a shared simulator is built in, or made of what is Sync.
unsafe impl Sync for SimulatorHandle<Shared> {}

impl SimulatorHandle<Shared> {
    /// A simulator of Rust that several threads may ask at once. It is dropped,
    /// once, when the handle is.
    pub fn new(simulator: impl Simulator + Send + Sync + 'static) -> Result<Owned<Self>> {
        make(simulator, true)
    }

    /// A simulator that comes with the library: "calculon", "staged", …; "" lists
    /// them all in the message of its error.
    pub fn built_in(bundle: &Bundle, name: &str) -> Result<Owned<Self>> {
        // SAFETY: makes a simulator; the name is read during the call only.
        unsafe {
            Owned::make(|out| {
                sys::lmsb_simulator_built_in(out, bundle.raw(), begin(name), name.len())
            })
        }
    }
}

impl SimulatorHandle<Local> {
    /// A simulator of Rust that stays on this thread and is asked by it alone.
    ///
    /// ```compile_fail,E0277
    /// # use lmsimbench::*;
    /// # fn f<S: Simulator + 'static>(simulator: S) {
    /// // error: `S` may be tied to its thread; `local` takes it
    /// let handle = SimulatorHandle::new(simulator);
    /// # }
    /// ```
    pub fn local(simulator: impl Simulator + 'static) -> Result<Owned<Self>> {
        make(simulator, false)
    }

    /// The simulator of a plug-in, or the five stages with its cost model. It stays
    /// loaded as long as the simulator.
    ///
    /// # Safety
    /// Loading runs the code in the file, and so does all that is asked of the
    /// simulator: it keeps to what c.h says of plug-ins.
    pub unsafe fn load(path: &str) -> Result<Owned<Self>> {
        // SAFETY: makes a simulator; the path is read during the call only.
        unsafe { Owned::make(|out| sys::lmsb_simulator_load(out, begin(path), path.len())) }
    }
}

impl<T> SimulatorHandle<T> {
    /// The five stages with this cost model.
    pub fn staged(name: &str, model: &CostModelHandle<T>) -> Result<Owned<Self>> {
        // SAFETY: makes a simulator; the name is read during the call only, and
        // the model may be freed before the simulator.
        unsafe {
            Owned::make(|out| sys::lmsb_simulator_staged(out, begin(name), name.len(), model.raw()))
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        // SAFETY: the name lives as long as the simulator.
        unsafe { text(sys::lmsb_simulator_name(self.raw())) }
    }

    /// Predicts one configuration. After an error the prediction answers nothing.
    pub fn predict(
        &self,
        workload: &Workload,
        system: &System,
        config: &Config,
    ) -> Result<Owned<Prediction>> {
        let mut prediction = Prediction::new()?;
        self.ask(workload, system, config, ptr::null_mut(), &mut prediction)?;
        Ok(prediction)
    }

    /// The same into a prediction that is there, with a workspace: built-in
    /// simulators allocate nothing once they have answered a question of the size.
    pub fn predict_into(
        &self,
        workload: &Workload,
        system: &System,
        config: &Config,
        workspace: &mut Workspace,
        prediction: &mut Prediction,
    ) -> Result<()> {
        let workspace: *mut Workspace = workspace;
        self.ask(workload, system, config, workspace.cast(), prediction)
    }

    fn ask(
        &self,
        workload: &Workload,
        system: &System,
        config: &Config,
        workspace: *mut sys::lmsb_workspace,
        prediction: &mut Prediction,
    ) -> Result<()> {
        let prediction: *mut Prediction = prediction;
        // SAFETY: all live; workspace and prediction are borrowed by nobody else.
        check(unsafe {
            sys::lmsb_simulator_predict(
                self.raw(),
                workload.raw(),
                system.raw(),
                config.raw(),
                workspace,
                prediction.cast(),
            )
        })
    }

    pub(crate) fn raw(&self) -> *const sys::lmsb_simulator {
        &self.raw
    }
}

impl<T> fmt::Debug for SimulatorHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SimulatorHandle")
            .field(&self.name())
            .finish()
    }
}

fn make<S: Simulator + 'static, T>(
    simulator: S,
    thread_safe: bool,
) -> Result<Owned<SimulatorHandle<T>>> {
    let name = c_text(simulator.name(), "name")?;
    let user = Box::into_raw(Box::new(simulator));
    let functions = functions_of(user, &name, thread_safe);
    // SAFETY: makes a simulator; the struct and the name are copied.
    let made = unsafe { Owned::make(|out| sys::lmsb_simulator_new(out, &functions)) };
    if made.is_err() {
        // SAFETY: what could not be made does not destroy.
        drop(unsafe { Box::from_raw(user) });
    }
    made
}

pub(crate) fn functions_of<S: Simulator>(
    user: *mut S,
    name: &CStr,
    thread_safe: bool,
) -> sys::lmsb_simulator_functions {
    sys::lmsb_simulator_functions {
        struct_size: size_of::<sys::lmsb_simulator_functions>(),
        user: user.cast(),
        name: name.as_ptr(),
        thread_safe: thread_safe.into(),
        reserved: 0,
        predict: Some(predict::<S>),
        destroy: Some(destroy::<S>),
    }
}

/// # Safety
/// Called by the library with the `user` of an `S`.
unsafe extern "C" fn predict<S: Simulator>(
    user: *mut c_void,
    workload: *const sys::lmsb_workload,
    system: *const sys::lmsb_system,
    config: *const sys::lmsb_config,
    prediction: *mut sys::lmsb_prediction,
    error: *mut sys::lmsb_error,
) -> sys::lmsb_code {
    // SAFETY: the library's arguments live as long as this call, and nobody else
    // uses the prediction.
    unsafe {
        answer("predict", error, || {
            (*user.cast::<S>()).predict(
                &*workload.cast(),
                &*system.cast(),
                &*config.cast(),
                &mut *prediction.cast(),
            )
        })
    }
}
