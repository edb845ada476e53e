//! What became of a call.

use lmsimbench_sys as sys;
use std::ffi::{CStr, CString};
use std::fmt;
use std::os::raw::c_char;
use std::{ptr, slice};

/// Kinds of error, by the names and numbers of the C interface.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Code {
    /// Stopped by a progress closure.
    Cancelled = sys::LMSB_CANCELLED,
    /// Of no other kind, or of one that this crate does not know.
    Unknown = sys::LMSB_UNKNOWN,
    /// The caller's fault, or an illegal configuration.
    InvalidArgument = sys::LMSB_INVALID_ARGUMENT,
    /// It took too long.
    DeadlineExceeded = sys::LMSB_DEADLINE_EXCEEDED,
    /// No such name; the message has the nearest.
    NotFound = sys::LMSB_NOT_FOUND,
    /// There is one already.
    AlreadyExists = sys::LMSB_ALREADY_EXISTS,
    /// Not allowed.
    PermissionDenied = sys::LMSB_PERMISSION_DENIED,
    /// Out of memory.
    ResourceExhausted = sys::LMSB_RESOURCE_EXHAUSTED,
    /// A figure that is needed is not stated.
    FailedPrecondition = sys::LMSB_FAILED_PRECONDITION,
    /// Given up.
    Aborted = sys::LMSB_ABORTED,
    /// Sizes beyond what can be simulated.
    OutOfRange = sys::LMSB_OUT_OF_RANGE,
    /// Not modelled: a refusal by name.
    Unimplemented = sys::LMSB_UNIMPLEMENTED,
    /// A fault of the library or of a plug-in, a panic among them.
    Internal = sys::LMSB_INTERNAL,
    /// Not to be had at the moment.
    Unavailable = sys::LMSB_UNAVAILABLE,
    /// A file is not sound.
    DataLoss = sys::LMSB_DATA_LOSS,
    /// Not known who asks.
    Unauthenticated = sys::LMSB_UNAUTHENTICATED,
}

impl Code {
    fn of_number(number: sys::lmsb_code) -> Code {
        match number {
            sys::LMSB_CANCELLED => Code::Cancelled,
            sys::LMSB_INVALID_ARGUMENT => Code::InvalidArgument,
            sys::LMSB_DEADLINE_EXCEEDED => Code::DeadlineExceeded,
            sys::LMSB_NOT_FOUND => Code::NotFound,
            sys::LMSB_ALREADY_EXISTS => Code::AlreadyExists,
            sys::LMSB_PERMISSION_DENIED => Code::PermissionDenied,
            sys::LMSB_RESOURCE_EXHAUSTED => Code::ResourceExhausted,
            sys::LMSB_FAILED_PRECONDITION => Code::FailedPrecondition,
            sys::LMSB_ABORTED => Code::Aborted,
            sys::LMSB_OUT_OF_RANGE => Code::OutOfRange,
            sys::LMSB_UNIMPLEMENTED => Code::Unimplemented,
            sys::LMSB_INTERNAL => Code::Internal,
            sys::LMSB_UNAVAILABLE => Code::Unavailable,
            sys::LMSB_DATA_LOSS => Code::DataLoss,
            sys::LMSB_UNAUTHENTICATED => Code::Unauthenticated,
            _ => Code::Unknown,
        }
    }

    /// The number that the C interface has for it.
    pub(crate) fn number(self) -> sys::lmsb_code {
        self as sys::lmsb_code
    }
}

impl fmt::Display for Code {
    /// The name that the library prints: "INVALID_ARGUMENT".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: takes any number; the name it returns is never freed.
        f.write_str(unsafe { text(sys::lmsb_code_name(self.number())) })
    }
}

/// Why a call failed: its kind, and a message that names the thing, the number
/// and the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    code: Code,
    message: String,
}

/// What a call that can fail returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of the caller's own, as a simulator or a cost model returns it.
    ///
    /// A simulator refuses with [`Code::Unimplemented`] what it cannot express,
    /// with [`Code::FailedPrecondition`] what lacks a figure, and with
    /// [`Code::InvalidArgument`] what cannot run; any other kind is a failure.
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        let message = message.into();
        Error { code, message }
    }

    /// The kind.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Error {}

/// The result of a call that returned `code` on this thread just now.
pub(crate) fn check(code: sys::lmsb_code) -> Result<()> {
    if code == sys::LMSB_OK {
        return Ok(());
    }
    // SAFETY: the message is valid until the next call that fails.
    let message = unsafe { text(sys::lmsb_last_error()) };
    Err(Error::new(Code::of_number(code), message))
}

/// A text that the library keeps. All of them are UTF-8; if one is not, it reads
/// as empty, which is what stands for a missing text.
///
/// # Safety
/// `pointer` is NULL or leads to a text with a NUL behind it that lives for `'a`.
pub(crate) unsafe fn text<'a>(pointer: *const c_char) -> &'a str {
    if pointer.is_null() {
        return "";
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap_or("")
}

/// A text with a NUL behind it, for where the C interface wants one.
pub(crate) fn c_text(text: &str, name: &str) -> Result<CString> {
    CString::new(text).map_err(|_| {
        Error::new(
            Code::InvalidArgument,
            format!("{name} {text:?} holds a NUL character"),
        )
    })
}

/// The text that a call makes.
///
/// # Safety
/// If `make` returns LMSB_OK, it has written a new text.
pub(crate) unsafe fn made_text(
    make: impl FnOnce(*mut *mut sys::lmsb_text) -> sys::lmsb_code,
) -> Result<String> {
    let mut raw = ptr::null_mut();
    check(make(&mut raw))?;
    // SAFETY: as the caller promises; nobody uses the text afterwards.
    Ok(unsafe { text_and_free(raw) })
}

/// A copy of a text that the library made.
///
/// # Safety
/// `raw` is a text, which is freed.
pub(crate) unsafe fn text_and_free(raw: *mut sys::lmsb_text) -> String {
    // SAFETY: as the caller promises; the data has this length.
    unsafe {
        let data = sys::lmsb_text_data(raw).cast::<u8>();
        let bytes = slice::from_raw_parts(data, sys::lmsb_text_length(raw));
        let copy = String::from_utf8_lossy(bytes).into_owned();
        sys::lmsb_text_free(raw);
        copy
    }
}
