//! Tables of named columns.

use crate::error::{check, text, Result};
use crate::owned::{Object, Owned};
use lmsimbench_sys as sys;
use std::ops::Deref;
use std::os::raw::c_char;
use std::{fmt, ptr, slice, str};

/// A table: named columns, one entry a row. Borrowed from the [`Bundle`] or the
/// [`Table`] that it is part of, as all that is reached from it.
///
/// ```compile_fail,E0597
/// # use lmsimbench::Bundle;
/// let flops: &[f64] = {
///     let bundle = Bundle::embedded().unwrap();
///     bundle.view("gemms").unwrap().f64("time_s").unwrap()
/// }; // error: `bundle` does not live long enough
/// println!("{}", flops.len());
/// ```
///
/// [`Bundle`]: crate::Bundle
#[repr(transparent)]
pub struct View(sys::lmsb_view);

/// One column of a [`View`].
#[repr(transparent)]
pub struct Column(sys::lmsb_column);

/// The entries of a column, as many as its view has rows.
#[derive(Clone, Copy, Debug)]
pub enum Entries<'a> {
    /// Numbers; NaN where one is missing.
    F64(&'a [f64]),
    /// Counts; -1 where one is missing.
    I64(&'a [i64]),
    /// Strings; empty where one is missing.
    Strings(Strings<'a>),
}

impl View {
    /// Its name.
    pub fn name(&self) -> &str {
        // SAFETY: the view lives as long as `self`, its name as long as it.
        unsafe { text(sys::lmsb_view_name(&self.0)) }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        // SAFETY: the view lives.
        unsafe { sys::lmsb_view_rows(&self.0) }
    }

    /// All its columns.
    pub fn columns(&self) -> impl Iterator<Item = &Column> {
        // SAFETY: the view lives.
        let count = unsafe { sys::lmsb_view_column_count(&self.0) };
        (0..count).map(move |index| {
            // SAFETY: the index is below the count, so there is such a column,
            // which lives as long as the view.
            unsafe { &*sys::lmsb_view_column_at(&self.0, index).cast::<Column>() }
        })
    }

    /// The column with this name; [`Code::NotFound`](crate::Code::NotFound) with
    /// the nearest name if there is none.
    pub fn column(&self, name: &str) -> Result<&Column> {
        let mut column = ptr::null();
        // SAFETY: the view lives; the name is read during the call only.
        check(unsafe {
            sys::lmsb_view_column(&self.0, name.as_ptr().cast(), name.len(), &mut column)
        })?;
        // SAFETY: a column that was found lives as long as the view.
        Ok(unsafe { &*column.cast::<Column>() })
    }

    /// The entries of a column of numbers.
    pub fn f64(&self, column: &str) -> Result<&[f64]> {
        self.column(column)?.f64()
    }

    /// The entries of a column of counts.
    pub fn i64(&self, column: &str) -> Result<&[i64]> {
        self.column(column)?.i64()
    }

    /// The entries of a column of strings.
    pub fn strings(&self, column: &str) -> Result<Strings<'_>> {
        self.column(column)?.strings()
    }
}

impl Column {
    /// Its name.
    pub fn name(&self) -> &str {
        // SAFETY: the column lives as long as `self`, its name as long as it.
        unsafe { text(sys::lmsb_column_name(&self.0)) }
    }

    /// Its entries, whatever their type.
    pub fn entries(&self) -> Result<Entries<'_>> {
        // SAFETY: the column lives.
        match unsafe { sys::lmsb_column_type(&self.0) } {
            sys::LMSB_COLUMN_F64 => Ok(Entries::F64(self.f64()?)),
            sys::LMSB_COLUMN_I64 => Ok(Entries::I64(self.i64()?)),
            _ => Ok(Entries::Strings(self.strings()?)),
        }
    }

    /// Its numbers; an error if it holds something else.
    pub fn f64(&self) -> Result<&[f64]> {
        self.slice(sys::lmsb_column_f64)
    }

    /// Its counts; an error if it holds something else.
    pub fn i64(&self) -> Result<&[i64]> {
        self.slice(sys::lmsb_column_i64)
    }

    /// Its strings; an error if it holds something else.
    pub fn strings(&self) -> Result<Strings<'_>> {
        let ids = self.slice(sys::lmsb_column_strings)?;
        Ok(Strings { column: self, ids })
    }

    fn slice<T>(
        &self,
        get: unsafe extern "C" fn(
            *const sys::lmsb_column,
            *mut *const T,
            *mut usize,
        ) -> sys::lmsb_code,
    ) -> Result<&[T]> {
        let mut entries = ptr::null();
        let mut count = 0;
        // SAFETY: the column lives.
        check(unsafe { get(&self.0, &mut entries, &mut count) })?;
        if count == 0 {
            return Ok(&[]);
        }
        // SAFETY: the library keeps so many entries as they are, aligned, as
        // long as what the column came from, which `self` borrows.
        Ok(unsafe { slice::from_raw_parts(entries, count) })
    }
}

/// The strings of a column.
#[derive(Clone, Copy)]
pub struct Strings<'a> {
    column: &'a Column,
    ids: &'a [u32],
}

impl<'a> Strings<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The string of a row. Panics behind the last row.
    pub fn get(&self, row: usize) -> &'a str {
        let mut length = 0;
        // SAFETY: the column lives for `'a`.
        let data = unsafe { sys::lmsb_column_string(&self.column.0, self.ids[row], &mut length) };
        if data.is_null() {
            return "";
        }
        // SAFETY: the text has this length and lives as long as the column.
        let bytes: &'a [u8] = unsafe { slice::from_raw_parts(data.cast(), length) };
        str::from_utf8(bytes).unwrap_or("")
    }

    /// A number for each string: equal numbers, equal strings, also in other
    /// columns of the same bundle.
    pub fn ids(&self) -> &'a [u32] {
        self.ids
    }

    /// All strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a str> + 'a {
        let strings = *self;
        (0..strings.len()).map(move |row| strings.get(row))
    }
}

impl fmt::Debug for Strings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

// SAFETY: views and columns are only ever read.
unsafe impl Send for View {}
// SAFETY: as above.
unsafe impl Sync for View {}
// SAFETY: as above.
unsafe impl Send for Column {}
// SAFETY: as above.
unsafe impl Sync for Column {}

/// A table that the library made: the owner of a [`View`].
///
/// ```compile_fail,E0505
/// # use lmsimbench::*;
/// # fn f(card: &Scorecard) {
/// let table = card.figures().unwrap();
/// let values = table.f64("value").unwrap();
/// drop(table); // error: `table` is borrowed
/// println!("{}", values.len());
/// # }
/// ```
pub struct Table {
    table: Owned<RawTable>,
}

#[repr(transparent)]
struct RawTable(sys::lmsb_table);

// SAFETY: transparent around a type without size; its own function frees it.
unsafe impl Object for RawTable {
    type Raw = sys::lmsb_table;
    const FREE: unsafe extern "C" fn(*mut sys::lmsb_table) = sys::lmsb_table_free;
}
// SAFETY: a table is only ever read.
unsafe impl Send for RawTable {}
// SAFETY: as above.
unsafe impl Sync for RawTable {}

impl Table {
    /// # Safety
    /// If `make` returns LMSB_OK, it has written a new table.
    pub(crate) unsafe fn make(
        make: impl FnOnce(*mut *mut sys::lmsb_table) -> sys::lmsb_code,
    ) -> Result<Table> {
        // SAFETY: as the caller promises.
        let table = unsafe { Owned::make(make) }?;
        Ok(Table { table })
    }
}

impl Deref for Table {
    type Target = View;
    fn deref(&self) -> &View {
        // SAFETY: a table has a view, which lives as long as the table.
        unsafe { &*sys::lmsb_table_view(&self.table.0).cast::<View>() }
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for column in self.columns() {
            map.entry(&column.name(), &column.entries());
        }
        map.finish()
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries().fmt(f)
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// A text as the C interface takes it: where it begins.
pub(crate) fn begin(text: &str) -> *const c_char {
    text.as_ptr().cast()
}
