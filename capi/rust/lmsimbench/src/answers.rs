//! What one simulator said of the measured runs.

use crate::error::{c_text, check, Result};
use crate::kinds::Verdict;
use crate::measurements::{Measurements, RawSelection, Selection};
use crate::owned::Owned;
use crate::simulator::SimulatorHandle;
use crate::view::{begin, Table};
use lmsimbench_sys as sys;
use std::any::Any;
use std::fmt;
use std::mem::size_of;
use std::ops::ControlFlow;
use std::os::raw::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr;

object! {
    /// What one simulator said of the measured runs.
    Answers, lmsb_answers, lmsb_answers_free
}
debug_by_name!(Answers);

// SAFETY: nothing ties answers to their thread.
unsafe impl Send for Answers {}
// SAFETY: reading changes nothing.
unsafe impl Sync for Answers {}

/// Called with the number of questions asked and their total, by one thread at a
/// time. `Break` stops the call, which returns
/// [`Code::Cancelled`](crate::Code::Cancelled).
pub type Progress<'a> = dyn FnMut(usize, usize) -> ControlFlow<()> + Send + 'a;

/// How to ask.
pub struct AskOptions<'a> {
    /// Which runs.
    pub selection: Selection<'a>,
    /// Also the runs of `fit` on the platforms selected, which calibrated errors
    /// need.
    pub calibration_runs: bool,
    /// Threads to ask with, 1 or more. A [`Local`](crate::Local) simulator is
    /// asked by one.
    pub threads: u16,
    /// Hears how far it is. A panic in it stops the call and goes on behind it.
    pub progress: Option<&'a mut Progress<'a>>,
}

impl Default for AskOptions<'_> {
    /// All runs of the split "test", by one thread.
    fn default() -> Self {
        AskOptions {
            selection: Selection::default(),
            calibration_runs: false,
            threads: 1,
            progress: None,
        }
    }
}

impl fmt::Debug for AskOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AskOptions")
            .field("selection", &self.selection)
            .field("calibration_runs", &self.calibration_runs)
            .field("threads", &self.threads)
            .field("progress", &self.progress.is_some())
            .finish()
    }
}

/// One row of a table of predictions.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// Record id of the run.
    pub record: &'a str,
    /// Seconds; NaN: not answered.
    pub iteration_time_s: f64,
    /// Bytes; NaN: not answered.
    pub peak_memory_bytes: f64,
    /// Whether it fits.
    pub verdict: Verdict,
    /// Why there is no answer; empty where there is one. A row with a reason
    /// answers nothing else.
    pub refusal: &'a str,
}

impl Default for Answer<'_> {
    /// Answers nothing.
    fn default() -> Self {
        Answer {
            record: "",
            iteration_time_s: f64::NAN,
            peak_memory_bytes: f64::NAN,
            verdict: Verdict::NotAnswered,
            refusal: "",
        }
    }
}

impl Answers {
    /// Asks a simulator about the runs selected. What it refuses or fails at is an
    /// answer, not an error of this call.
    pub fn ask<T>(
        simulator: &SimulatorHandle<T>,
        measurements: &Measurements,
        options: AskOptions<'_>,
    ) -> Result<Owned<Answers>> {
        let selection = RawSelection::new(&options.selection)?;
        let selection = (selection.raw(), selection);
        let mut listener = options.progress.map(|progress| Listener {
            progress,
            panic: None,
        });
        let raw = sys::lmsb_ask_options {
            struct_size: size_of::<sys::lmsb_ask_options>(),
            selection: &selection.0,
            calibration_runs: options.calibration_runs.into(),
            threads: options.threads.into(),
            progress: listener.as_ref().map(|_| tell as _),
            progress_user: listener
                .as_mut()
                .map_or(ptr::null_mut(), |l| (l as *mut Listener<'_>).cast()),
        };
        // SAFETY: makes answers; the options and what they point to live during
        // the call, and so does the listener.
        let answers = unsafe {
            Owned::make(|out| sys::lmsb_answers_ask(out, simulator.raw(), measurements.raw(), &raw))
        };
        if let Some(panic) = listener.and_then(|listener| listener.panic) {
            resume_unwind(panic);
        }
        answers
    }

    /// Answers to be put in; none is there yet.
    pub fn new(name: &str, measurements: &Measurements) -> Result<Owned<Answers>> {
        // SAFETY: makes answers; the name is read during the call only.
        unsafe {
            Owned::make(|out| {
                sys::lmsb_answers_new(out, begin(name), name.len(), measurements.raw())
            })
        }
    }

    /// Puts in a table of predictions: all of it, or, if a record is unknown or
    /// answered twice or a figure is out of range, nothing.
    pub fn put(&mut self, rows: &[Answer<'_>]) -> Result<()> {
        let mut records = Vec::with_capacity(rows.len());
        let mut refusals = Vec::with_capacity(rows.len());
        for row in rows {
            records.push(c_text(row.record, "record")?);
            refusals.push(c_text(row.refusal, "refusal")?);
        }
        let record_pointers: Vec<_> = records.iter().map(|text| text.as_ptr()).collect();
        let refusal_pointers: Vec<_> = refusals.iter().map(|text| text.as_ptr()).collect();
        let times: Vec<_> = rows.iter().map(|row| row.iteration_time_s).collect();
        let memory: Vec<_> = rows.iter().map(|row| row.peak_memory_bytes).collect();
        let verdicts: Vec<_> = rows.iter().map(|row| row.verdict as i32).collect();
        let columns = sys::lmsb_answer_columns {
            struct_size: size_of::<sys::lmsb_answer_columns>(),
            count: rows.len(),
            records: record_pointers.as_ptr(),
            iteration_time_s: times.as_ptr(),
            peak_memory_bytes: memory.as_ptr(),
            verdicts: verdicts.as_ptr(),
            refusals: refusal_pointers.as_ptr(),
        };
        let answers: *mut Answers = self;
        // SAFETY: every column has as many entries as there are rows, and all
        // live during the call.
        check(unsafe { sys::lmsb_answers_put(answers.cast(), &columns) })
    }

    /// Reads a table of predictions from a CSV file: record_id, predicted_ms,
    /// predicted_mem_gib, verdict, notes. With a column `simulator` the lines of
    /// `name` count.
    pub fn read_csv(path: &str, name: &str, measurements: &Measurements) -> Result<Owned<Answers>> {
        // SAFETY: makes answers; both texts are read during the call only.
        unsafe {
            Owned::make(|out| {
                sys::lmsb_answers_read_csv(
                    out,
                    begin(path),
                    path.len(),
                    begin(name),
                    name.len(),
                    measurements.raw(),
                )
            })
        }
    }

    /// As a table: record, status ("answered", "refused", "failed", "timed out",
    /// "missing"), iteration_time_s, peak_memory_bytes, verdict, notes; one row a
    /// run of the measurements.
    pub fn table(&self) -> Result<Table> {
        // SAFETY: makes a table.
        unsafe { Table::make(|out| sys::lmsb_answers_table(self.raw(), out)) }
    }
}

/// Whom the library tells how far it is.
struct Listener<'a> {
    progress: &'a mut Progress<'a>,
    panic: Option<Box<dyn Any + Send>>,
}

/// # Safety
/// Called by one thread at a time with a listener as `user`.
unsafe extern "C" fn tell(user: *mut c_void, done: usize, total: usize) -> i32 {
    // SAFETY: as the library promises. The closure may be called by any thread.
    let listener = unsafe { &mut *user.cast::<Listener<'_>>() };
    if listener.panic.is_some() {
        return 1;
    }
    match catch_unwind(AssertUnwindSafe(|| (listener.progress)(done, total))) {
        Ok(ControlFlow::Continue(())) => 0,
        Ok(ControlFlow::Break(())) => 1,
        Err(panic) => {
            listener.panic = Some(panic);
            1
        }
    }
}
