//! Calls from the library into Rust: no panic leaves them.

use crate::error::{Code, Error, Result};
use crate::view::begin;
use lmsimbench_sys as sys;
use std::any::Any;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Runs a function of the caller's. Its error, or the message of its panic,
/// becomes the callback's.
///
/// That a panic may leave the caller's own data half changed is the caller's
/// matter, as it is with a mutex that it unlocks by hand: hence the assertion.
///
/// # Safety
/// `error` is what the library gave the callback.
pub(crate) unsafe fn answer(
    function: &str,
    error: *mut sys::lmsb_error,
    call: impl FnOnce() -> Result<()>,
) -> sys::lmsb_code {
    let failure = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => return sys::LMSB_OK,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let message = format!("{function} panicked: {}", message_of(panic));
            Error::new(Code::Internal, message)
        }
    };
    let message = failure.message();
    // SAFETY: as the caller promises; the text is copied.
    unsafe { sys::lmsb_error_set(error, begin(message), message.len()) };
    failure.code().number()
}

/// The message that a panic carries.
fn message_of(panic: Box<dyn Any + Send>) -> String {
    let panic = match panic.downcast::<String>() {
        Ok(message) => return *message,
        Err(panic) => panic,
    };
    match panic.downcast::<&'static str>() {
        Ok(message) => message.to_string(),
        Err(panic) => {
            drop_caught(panic);
            "with a payload that is no text".to_string()
        }
    }
}

/// Drops what a panic carries, which may panic in turn; what that one carries is
/// not tried again.
fn drop_caught(panic: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
}

/// Drops what `Box::into_raw` gave the library as `user`. A panic in the drop has
/// nowhere to go but to the panic hook, which has had it.
///
/// # Safety
/// `user` came from a box of a `T` and is not used again.
pub(crate) unsafe extern "C" fn destroy<T>(user: *mut c_void) {
    // SAFETY: as the caller promises.
    let owned = unsafe { Box::from_raw(user.cast::<T>()) };
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(owned))) {
        drop_caught(panic);
    }
}
