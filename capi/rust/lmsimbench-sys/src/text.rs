//! Texts that the library made.

use std::os::raw::c_char;

opaque! {
    lmsb_text,
}

extern "C" {
    pub fn lmsb_text_data(text: *const lmsb_text) -> *const c_char;
    pub fn lmsb_text_length(text: *const lmsb_text) -> usize;
    pub fn lmsb_text_free(text: *mut lmsb_text);
}
