//! Files of measurements.

use crate::error::{check, text, Result};
use crate::owned::Owned;
use crate::view::{begin, View};
use lmsimbench_sys as sys;
use std::ptr;

object! {
    /// A file of measurements: six linked views (`iterations`, `memory`, `ranks`,
    /// `operators`, `collectives`, `gemms`) and the tables that complete them
    /// (sources with their licences, platforms, models, …).
    ///
    /// ```
    /// use lmsimbench::Bundle;
    ///
    /// let bundle = Bundle::embedded()?;
    /// let gemms = bundle.view("gemms")?;
    /// let platforms = gemms.strings("platform")?;
    /// for (m, platform) in gemms.i64("m")?.iter().zip(platforms.iter()).take(3) {
    ///     println!("{m} rows on {platform}");
    /// }
    /// # Ok::<(), lmsimbench::Error>(())
    /// ```
    Bundle, lmsb_bundle, lmsb_bundle_free
}
debug_by_name!(Bundle);

// SAFETY: a bundle is only ever read, by any thread.
unsafe impl Send for Bundle {}
// SAFETY: as above.
unsafe impl Sync for Bundle {}

impl Bundle {
    /// The measurements that are built into the library.
    pub fn embedded() -> Result<Owned<Bundle>> {
        // SAFETY: makes a bundle.
        unsafe { Owned::make(|out| sys::lmsb_bundle_open_embedded(out)) }
    }

    /// Maps a file. [`Code::NotFound`](crate::Code::NotFound) if there is none,
    /// [`Code::DataLoss`](crate::Code::DataLoss) if it is not sound.
    ///
    /// # Safety
    /// The file is not overwritten in place or cut while anything that was made
    /// from the bundle is in use: its columns are the memory of the file.
    pub unsafe fn open(path: &str) -> Result<Owned<Bundle>> {
        // SAFETY: makes a bundle; the path is read during the call only.
        unsafe { Owned::make(|out| sys::lmsb_bundle_open_file(out, begin(path), path.len())) }
    }

    /// Reads a file that lies in memory.
    pub fn from_static(bytes: &'static [u8]) -> Result<Owned<Bundle>> {
        // SAFETY: makes a bundle; the bytes stay as they are for ever.
        unsafe {
            Owned::make(|out| sys::lmsb_bundle_open_memory(out, bytes.as_ptr().cast(), bytes.len()))
        }
    }

    /// Hash of the contents in 16 hexadecimal digits.
    pub fn fingerprint(&self) -> &str {
        // SAFETY: the text lives as long as the bundle.
        unsafe { text(sys::lmsb_bundle_fingerprint(self.raw())) }
    }

    /// All its views.
    pub fn views(&self) -> impl Iterator<Item = &View> {
        // SAFETY: the bundle lives.
        let count = unsafe { sys::lmsb_bundle_view_count(self.raw()) };
        (0..count).map(move |index| {
            // SAFETY: the index is below the count, so there is such a view,
            // which lives as long as the bundle.
            unsafe { &*sys::lmsb_bundle_view_at(self.raw(), index).cast::<View>() }
        })
    }

    /// The view with this name; [`Code::NotFound`](crate::Code::NotFound) with
    /// the nearest name if there is none.
    pub fn view(&self, name: &str) -> Result<&View> {
        let mut view = ptr::null();
        // SAFETY: the bundle lives; the name is read during the call only.
        check(unsafe { sys::lmsb_bundle_view(self.raw(), begin(name), name.len(), &mut view) })?;
        // SAFETY: a view that was found lives as long as the bundle.
        Ok(unsafe { &*view.cast::<View>() })
    }
}
