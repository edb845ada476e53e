//! Values of the library, read and written field by field, by name.

use crate::error::{check, text, Result};
use crate::view::begin;
use lmsimbench_sys as sys;
use std::os::raw::c_char;
use std::ptr;

/// The functions of the C interface that read and write the fields of one type.
pub struct Functions<Raw> {
    pub(crate) f64:
        unsafe extern "C" fn(*const Raw, *const c_char, usize, *mut f64) -> sys::lmsb_code,
    pub(crate) i64:
        unsafe extern "C" fn(*const Raw, *const c_char, usize, *mut i64) -> sys::lmsb_code,
    pub(crate) text: unsafe extern "C" fn(
        *const Raw,
        *const c_char,
        usize,
        *mut *const c_char,
    ) -> sys::lmsb_code,
    pub(crate) count:
        unsafe extern "C" fn(*const Raw, *const c_char, usize, *mut usize) -> sys::lmsb_code,
    pub(crate) set_f64: unsafe extern "C" fn(*mut Raw, *const c_char, usize, f64) -> sys::lmsb_code,
    pub(crate) set_i64: unsafe extern "C" fn(*mut Raw, *const c_char, usize, i64) -> sys::lmsb_code,
    pub(crate) set_text: unsafe extern "C" fn(
        *mut Raw,
        *const c_char,
        usize,
        *const c_char,
        usize,
    ) -> sys::lmsb_code,
    pub(crate) set_json: unsafe extern "C" fn(
        *mut Raw,
        *const c_char,
        usize,
        *const c_char,
        usize,
    ) -> sys::lmsb_code,
}

/// A type with fields.
///
/// # Safety
/// A pointer to `Self` is a pointer to `Raw`, and `Self` has no size.
pub unsafe trait Fields: Sized {
    /// The type of the C interface.
    type Raw: 'static;
    /// Its functions.
    const FUNCTIONS: Functions<Self::Raw>;
}

fn raw<V: Fields>(value: &V) -> *const V::Raw {
    let pointer: *const V = value;
    pointer.cast()
}

fn raw_mut<V: Fields>(value: &mut V) -> *mut V::Raw {
    let pointer: *mut V = value;
    pointer.cast()
}

/// What a field can be read as: `f64` (numbers, and counts too), `i64` (counts,
/// and facts as 1, 0 or -1 for not stated) and `&str` (texts and names).
pub trait FromField<'a>: Sized {
    #[doc(hidden)]
    fn read<V: Fields>(value: &'a V, field: &str) -> Result<Self>;
}

impl<'a> FromField<'a> for f64 {
    fn read<V: Fields>(value: &'a V, field: &str) -> Result<f64> {
        let mut number = f64::NAN;
        // SAFETY: the value lives; the name is read during the call only.
        check(unsafe { (V::FUNCTIONS.f64)(raw(value), begin(field), field.len(), &mut number) })?;
        Ok(number)
    }
}

impl<'a> FromField<'a> for i64 {
    fn read<V: Fields>(value: &'a V, field: &str) -> Result<i64> {
        let mut count = -1;
        // SAFETY: the value lives; the name is read during the call only.
        check(unsafe { (V::FUNCTIONS.i64)(raw(value), begin(field), field.len(), &mut count) })?;
        Ok(count)
    }
}

impl<'a> FromField<'a> for &'a str {
    fn read<V: Fields>(value: &'a V, field: &str) -> Result<&'a str> {
        let mut pointer = ptr::null();
        // SAFETY: the value lives; the name is read during the call only. The
        // text lives until the field is changed, which the borrow forbids.
        unsafe {
            check((V::FUNCTIONS.text)(
                raw(value),
                begin(field),
                field.len(),
                &mut pointer,
            ))?;
            Ok(text(pointer))
        }
    }
}

/// What a field can be set to: `f64`, `i64` and `i32`, `bool` and `&str`.
pub trait ToField {
    #[doc(hidden)]
    fn write<V: Fields>(self, value: &mut V, field: &str) -> Result<()>;
}

impl ToField for f64 {
    fn write<V: Fields>(self, value: &mut V, field: &str) -> Result<()> {
        // SAFETY: the value lives; the name is read during the call only.
        check(unsafe { (V::FUNCTIONS.set_f64)(raw_mut(value), begin(field), field.len(), self) })
    }
}

impl ToField for i64 {
    fn write<V: Fields>(self, value: &mut V, field: &str) -> Result<()> {
        // SAFETY: the value lives; the name is read during the call only.
        check(unsafe { (V::FUNCTIONS.set_i64)(raw_mut(value), begin(field), field.len(), self) })
    }
}

impl ToField for i32 {
    fn write<V: Fields>(self, value: &mut V, field: &str) -> Result<()> {
        i64::from(self).write(value, field)
    }
}

impl ToField for bool {
    fn write<V: Fields>(self, value: &mut V, field: &str) -> Result<()> {
        i64::from(self).write(value, field)
    }
}

impl ToField for &str {
    fn write<V: Fields>(self, value: &mut V, field: &str) -> Result<()> {
        // SAFETY: the value lives; both texts are read during the call only.
        check(unsafe {
            (V::FUNCTIONS.set_text)(
                raw_mut(value),
                begin(field),
                field.len(),
                begin(self),
                self.len(),
            )
        })
    }
}

pub(crate) fn count<V: Fields>(value: &V, field: &str) -> Result<usize> {
    let mut count = 0;
    // SAFETY: the value lives; the name is read during the call only.
    check(unsafe { (V::FUNCTIONS.count)(raw(value), begin(field), field.len(), &mut count) })?;
    Ok(count)
}

pub(crate) fn set_json<V: Fields>(value: &mut V, field: &str, json: &str) -> Result<()> {
    // SAFETY: the value lives; both texts are read during the call only.
    check(unsafe {
        (V::FUNCTIONS.set_json)(
            raw_mut(value),
            begin(field),
            field.len(),
            begin(json),
            json.len(),
        )
    })
}
