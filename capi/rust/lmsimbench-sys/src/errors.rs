//! Codes of what became of a call, its message, and versions.

use std::os::raw::c_char;

pub type lmsb_code = i32;
pub const LMSB_ABI_VERSION: u32 = 2;

pub const LMSB_OK: i32 = 0;
pub const LMSB_CANCELLED: i32 = 1;
pub const LMSB_UNKNOWN: i32 = 2;
pub const LMSB_INVALID_ARGUMENT: i32 = 3;
pub const LMSB_DEADLINE_EXCEEDED: i32 = 4;
pub const LMSB_NOT_FOUND: i32 = 5;
pub const LMSB_ALREADY_EXISTS: i32 = 6;
pub const LMSB_PERMISSION_DENIED: i32 = 7;
pub const LMSB_RESOURCE_EXHAUSTED: i32 = 8;
pub const LMSB_FAILED_PRECONDITION: i32 = 9;
pub const LMSB_ABORTED: i32 = 10;
pub const LMSB_OUT_OF_RANGE: i32 = 11;
pub const LMSB_UNIMPLEMENTED: i32 = 12;
pub const LMSB_INTERNAL: i32 = 13;
pub const LMSB_UNAVAILABLE: i32 = 14;
pub const LMSB_DATA_LOSS: i32 = 15;
pub const LMSB_UNAUTHENTICATED: i32 = 16;

extern "C" {
    pub fn lmsb_last_error() -> *const c_char;
    pub fn lmsb_code_name(code: lmsb_code) -> *const c_char;
    pub fn lmsb_abi_version() -> u32;
    pub fn lmsb_version() -> *const c_char;
}
