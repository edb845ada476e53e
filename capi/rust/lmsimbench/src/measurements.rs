//! The runs that simulators are asked about.

use crate::bundle::Bundle;
use crate::error::{c_text, check, text, Result};
use crate::owned::Owned;
use crate::values::{Config, System, Workload};
use crate::view::{begin, Table};
use lmsimbench_sys as sys;
use std::ffi::CString;
use std::mem::size_of;
use std::ptr;

object! {
    /// The runs of a bundle, ready to be asked about.
    Measurements, lmsb_measurements, lmsb_measurements_free
}
debug_by_name!(Measurements);

// SAFETY: measurements are only ever read, by any thread.
unsafe impl Send for Measurements {}
// SAFETY: as above.
unsafe impl Sync for Measurements {}

/// One measured run.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    measurements: &'a Measurements,
    index: usize,
}

impl Measurements {
    /// Reads the runs of a bundle, which may be dropped before.
    pub fn open(bundle: &Bundle) -> Result<Owned<Measurements>> {
        // SAFETY: makes measurements.
        unsafe { Owned::make(|out| sys::lmsb_measurements_open(out, bundle.raw())) }
    }

    /// All runs, configurations that failed to run behind those that ran.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = Run<'_>> {
        // SAFETY: the measurements live.
        let count = unsafe { sys::lmsb_measurements_run_count(self.raw()) };
        (0..count).map(move |index| Run {
            measurements: self,
            index,
        })
    }

    /// The run with this record id.
    pub fn find(&self, record: &str) -> Result<Run<'_>> {
        let mut index = 0;
        // SAFETY: the measurements live; the id is read during the call only.
        check(unsafe {
            sys::lmsb_measurements_find(self.raw(), begin(record), record.len(), &mut index)
        })?;
        Ok(Run {
            measurements: self,
            index,
        })
    }

    /// The runs as a table: record, setting (row of settings), source, platform,
    /// framework, split, flag, devices, ran (1 or 0), iteration_time_s,
    /// peak_memory_bytes.
    pub fn run_table(&self) -> Result<Table> {
        // SAFETY: makes a table.
        unsafe { Table::make(|out| sys::lmsb_measurements_runs(self.raw(), out)) }
    }

    /// The settings within which configurations are ranked: workload, source,
    /// platform, devices, runs, failed_runs.
    pub fn setting_table(&self) -> Result<Table> {
        // SAFETY: makes a table.
        unsafe { Table::make(|out| sys::lmsb_measurements_settings(self.raw(), out)) }
    }
}

impl<'a> Run<'a> {
    /// Its record id.
    pub fn record(&self) -> &'a str {
        // SAFETY: the text lives as long as the measurements.
        unsafe {
            text(sys::lmsb_measurements_record(
                self.measurements.raw(),
                self.index,
            ))
        }
    }

    /// What was trained.
    pub fn workload(&self) -> &'a Workload {
        // SAFETY: there is such a run; the value lives as long as the
        // measurements.
        unsafe { &*sys::lmsb_measurements_run_workload(self.measurements.raw(), self.index).cast() }
    }

    /// How it was divided.
    pub fn config(&self) -> &'a Config {
        // SAFETY: there is such a run; the value lives as long as the
        // measurements.
        unsafe { &*sys::lmsb_measurements_run_config(self.measurements.raw(), self.index).cast() }
    }

    /// The platform as the run used it.
    pub fn system(&self) -> Result<Owned<System>> {
        let of = self.measurements.raw();
        // SAFETY: makes a system.
        unsafe { Owned::make(|out| sys::lmsb_measurements_run_system(out, of, self.index)) }
    }
}

/// Which runs are meant.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// "test" or "fit".
    pub split: &'a str,
    /// Those of this source; empty: of every one.
    pub source: &'a str,
    /// Those on this platform; empty: on every one.
    pub platform: &'a str,
}

impl Default for Selection<'_> {
    /// All runs of the split "test".
    fn default() -> Self {
        Selection {
            split: "test",
            source: "",
            platform: "",
        }
    }
}

/// A selection as the C interface takes it.
pub(crate) struct RawSelection {
    split: CString,
    source: CString,
    platform: CString,
}

impl RawSelection {
    pub(crate) fn new(selection: &Selection<'_>) -> Result<RawSelection> {
        Ok(RawSelection {
            split: c_text(selection.split, "split")?,
            source: c_text(selection.source, "source")?,
            platform: c_text(selection.platform, "platform")?,
        })
    }

    /// The struct, which points into `self`.
    pub(crate) fn raw(&self) -> sys::lmsb_selection {
        let pointer = |text: &CString| match text.as_bytes() {
            [] => ptr::null(),
            _ => text.as_ptr(),
        };
        sys::lmsb_selection {
            struct_size: size_of::<sys::lmsb_selection>(),
            split: pointer(&self.split),
            source: pointer(&self.source),
            platform: pointer(&self.platform),
        }
    }
}
