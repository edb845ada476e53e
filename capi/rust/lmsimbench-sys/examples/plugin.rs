//! A simulator as a plug-in in Rust: a shared object that links nothing of the
//! library and exports one symbol.
//!
//! ```text
//! cargo build --no-default-features --example plugin
//! lmsimbench score --plugin target/debug/examples/libplugin.so
//! ```
//!
//! The model: six operations a weight and token of a dense model, at 40 % of the
//! device's peak. What it does not know it refuses by name.
#![deny(unsafe_op_in_unsafe_fn)]

use lmsimbench_sys as sys;
use std::mem::size_of;
use std::os::raw::c_void;
use std::panic::catch_unwind;
use std::ptr::{addr_of, addr_of_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

/// What the host offers, handed over when the plug-in is opened.
static HOST: AtomicPtr<sys::lmsb_host> = AtomicPtr::new(std::ptr::null_mut());

/// Why there is no answer.
struct Refusal(sys::lmsb_code, String);

/// What the library asks, as long as the call lives.
#[derive(Clone, Copy)]
struct Question {
    host: &'static sys::lmsb_host,
    workload: *const sys::lmsb_workload,
    system: *const sys::lmsb_system,
    config: *const sys::lmsb_config,
}

/// Reads a number by the function of the host for this kind of value.
macro_rules! number {
    ($question:ident, $function:ident, $value:ident, $field:expr) => {{
        let field: &str = $field;
        let mut number = f64::NAN;
        let read = $question.host.$function.expect("the host has it");
        // SAFETY: the value lives as long as the question, the name as long as
        // the call.
        let code = unsafe {
            read(
                $question.$value,
                field.as_ptr().cast(),
                field.len(),
                &mut number,
            )
        };
        match code {
            sys::LMSB_OK if !number.is_nan() => Ok(number),
            sys::LMSB_OK => Err(Refusal(
                sys::LMSB_FAILED_PRECONDITION,
                format!("{field} is not stated"),
            )),
            _ => Err(Refusal(code, format!("{field} cannot be read"))),
        }
    }};
}

fn time_s(question: Question) -> Result<f64, Refusal> {
    let workload = |field| number!(question, workload_f64, workload, field);
    let config = |field| number!(question, config_f64, config, field);
    if workload("model.experts")? > 0.0 {
        let reason = "mixture of experts is not modelled".to_string();
        return Err(Refusal(sys::LMSB_UNIMPLEMENTED, reason));
    }
    let hidden = workload("model.hidden")?;
    let weights = 12.0 * hidden * hidden * workload("model.layers")?;
    let tokens = workload("seq_len")? * workload("global_batch")?;
    let devices = config("tp")? * config("pp")? * config("dp")? * config("cp")?;
    let peak = number!(question, system_f64, system, "accelerator.bf16_flops")?;
    Ok(6.0 * weights * tokens / (0.4 * peak * devices))
}

/// # Safety
/// Called by the host with arguments that live as long as the call.
unsafe extern "C" fn predict(
    _: *mut c_void,
    workload: *const sys::lmsb_workload,
    system: *const sys::lmsb_system,
    config: *const sys::lmsb_config,
    prediction: *mut sys::lmsb_prediction,
    error: *mut sys::lmsb_error,
) -> sys::lmsb_code {
    // SAFETY: the host's table was checked when the plug-in was opened, and lives
    // as long as it is loaded.
    let host = unsafe { &*HOST.load(Ordering::Acquire) };
    let question = Question {
        host,
        workload,
        system,
        config,
    };
    // No panic may leave a function that C calls.
    let answer = catch_unwind(|| time_s(question)).unwrap_or_else(|_| {
        let reason = "the plug-in panicked".to_string();
        Err(Refusal(sys::LMSB_INTERNAL, reason))
    });
    match (answer, host.prediction_set_f64, host.error_set) {
        (Ok(time_s), Some(set), _) => {
            let field = "iteration_time_s";
            // SAFETY: the prediction lives as long as this call.
            unsafe { set(prediction, field.as_ptr().cast(), field.len(), time_s) }
        }
        (Err(Refusal(code, reason)), _, Some(set)) => {
            // SAFETY: the error lives as long as this call; the text is copied.
            unsafe { set(error, reason.as_ptr().cast(), reason.len()) };
            code
        }
        _ => sys::LMSB_INTERNAL,
    }
}

/// What the plug-in points to while it is loaded.
struct Functions(sys::lmsb_simulator_functions);

// SAFETY: what it points to never changes.
unsafe impl Sync for Functions {}

static SIMULATOR: Functions = Functions(sys::lmsb_simulator_functions {
    struct_size: size_of::<sys::lmsb_simulator_functions>(),
    user: std::ptr::null_mut(),
    name: b"plug-in in Rust\0".as_ptr().cast(),
    thread_safe: 1,
    reserved: 0,
    predict: Some(predict),
    destroy: None,
});

/// The one symbol.
///
/// # Safety
/// Called by a host with its table, which lives as long as the plug-in is loaded.
#[no_mangle]
pub unsafe extern "C" fn lmsb_plugin_open(
    host: *const sys::lmsb_host,
    plugin: *mut sys::lmsb_plugin,
    _error: *mut sys::lmsb_error,
) -> sys::lmsb_code {
    // SAFETY: every table begins with its size.
    let size = unsafe { addr_of!((*host).struct_size).read() };
    if size < size_of::<sys::lmsb_host>() {
        return sys::LMSB_UNIMPLEMENTED;
    }
    HOST.store(host as *mut sys::lmsb_host, Ordering::Release);
    // SAFETY: the host's struct has this field.
    unsafe { addr_of_mut!((*plugin).simulator).write(&SIMULATOR.0) };
    sys::LMSB_OK
}
