//! Bundles, views, columns and tables.

use crate::lmsb_code;
use std::os::raw::{c_char, c_void};

opaque! {
    lmsb_bundle,
    lmsb_view,
    lmsb_column,
    lmsb_table,
}

pub const LMSB_COLUMN_F64: i32 = 0;
pub const LMSB_COLUMN_I64: i32 = 1;
pub const LMSB_COLUMN_STRING: i32 = 2;

extern "C" {
    pub fn lmsb_bundle_open_embedded(out: *mut *mut lmsb_bundle) -> lmsb_code;
    pub fn lmsb_bundle_open_file(
        out: *mut *mut lmsb_bundle,
        path: *const c_char,
        path_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_bundle_open_memory(
        out: *mut *mut lmsb_bundle,
        bytes: *const c_void,
        size: usize,
    ) -> lmsb_code;
    pub fn lmsb_bundle_free(bundle: *mut lmsb_bundle);
    pub fn lmsb_bundle_fingerprint(bundle: *const lmsb_bundle) -> *const c_char;
    pub fn lmsb_bundle_view_count(bundle: *const lmsb_bundle) -> usize;
    pub fn lmsb_bundle_view_at(bundle: *const lmsb_bundle, index: usize) -> *const lmsb_view;
    pub fn lmsb_bundle_view(
        bundle: *const lmsb_bundle,
        name: *const c_char,
        name_length: usize,
        view: *mut *const lmsb_view,
    ) -> lmsb_code;
    pub fn lmsb_view_name(view: *const lmsb_view) -> *const c_char;
    pub fn lmsb_view_rows(view: *const lmsb_view) -> usize;
    pub fn lmsb_view_column_count(view: *const lmsb_view) -> usize;
    pub fn lmsb_view_column_at(view: *const lmsb_view, index: usize) -> *const lmsb_column;
    pub fn lmsb_view_column(
        view: *const lmsb_view,
        name: *const c_char,
        name_length: usize,
        column: *mut *const lmsb_column,
    ) -> lmsb_code;
    pub fn lmsb_column_name(column: *const lmsb_column) -> *const c_char;
    pub fn lmsb_column_type(column: *const lmsb_column) -> i32;
    pub fn lmsb_column_f64(
        column: *const lmsb_column,
        entries: *mut *const f64,
        count: *mut usize,
    ) -> lmsb_code;
    pub fn lmsb_column_i64(
        column: *const lmsb_column,
        entries: *mut *const i64,
        count: *mut usize,
    ) -> lmsb_code;
    pub fn lmsb_column_strings(
        column: *const lmsb_column,
        entries: *mut *const u32,
        count: *mut usize,
    ) -> lmsb_code;
    pub fn lmsb_column_string(
        column: *const lmsb_column,
        entry: u32,
        length: *mut usize,
    ) -> *const c_char;
    pub fn lmsb_table_view(table: *const lmsb_table) -> *const lmsb_view;
    pub fn lmsb_table_free(table: *mut lmsb_table);
}
