//! What is trained, where, how it is divided, and what a simulator says of it.

use crate::bundle::Bundle;
use crate::error::{check, made_text, Result};
use crate::fields::{self, Fields, FromField, Functions, ToField};
use crate::owned::Owned;
use crate::view::begin;
use lmsimbench_sys as sys;
use std::fmt;

/// Declares a value: an object with fields and a form in JSON.
macro_rules! value {
    ($(#[$meta:meta])* $name:ident, $raw:ident, $new:ident, $free:ident, $to_json:ident,
     $f64:ident, $i64:ident, $text:ident, $count:ident,
     $set_f64:ident, $set_i64:ident, $set_text:ident, $set_json:ident) => {
        object! { $(#[$meta])* $name, $raw, $free }

        // SAFETY: transparent around a type without size, whose functions these
        // are.
        unsafe impl Fields for $name {
            type Raw = sys::$raw;
            const FUNCTIONS: Functions<sys::$raw> = Functions {
                f64: sys::$f64,
                i64: sys::$i64,
                text: sys::$text,
                count: sys::$count,
                set_f64: sys::$set_f64,
                set_i64: sys::$set_i64,
                set_text: sys::$set_text,
                set_json: sys::$set_json,
            };
        }

        impl $name {
            /// A value that states nothing.
            pub fn new() -> Result<Owned<$name>> {
                // SAFETY: makes a value of this type.
                unsafe { Owned::make(|out| sys::$new(out)) }
            }

            /// A field by its name in the JSON: `"micro_batch"`, `"model.hidden"`,
            /// `"network[1].bandwidth"`. [`Code::NotFound`](crate::Code::NotFound)
            /// with the nearest name if there is none.
            pub fn get<'a, T: FromField<'a>>(&'a self, field: &str) -> Result<T> {
                T::read(self, field)
            }

            /// Length of a list.
            pub fn count(&self, field: &str) -> Result<usize> {
                fields::count(self, field)
            }

            /// Sets a field; a value that does not suit it is an error and changes
            /// nothing.
            pub fn set(&mut self, field: &str, value: impl ToField) -> Result<()> {
                value.write(self, field)
            }

            /// Sets any field, lists and parts too, from JSON.
            pub fn set_json(&mut self, field: &str, json: &str) -> Result<()> {
                fields::set_json(self, field, json)
            }

            /// All fields.
            pub fn to_json(&self) -> Result<String> {
                // SAFETY: makes a text.
                unsafe { made_text(|out| sys::$to_json(self.raw(), out)) }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.to_json().map_err(|_| fmt::Error)?)
            }
        }

        // SAFETY: nothing ties a value to its thread.
        unsafe impl Send for $name {}
    };
}

/// What questions have and predictions have not: they come from JSON, are copied
/// and may be read by several threads at once.
macro_rules! question {
    ($name:ident, $from_json:ident, $copy:ident) => {
        impl $name {
            /// Reads JSON, whose place of an error is named.
            pub fn from_json(json: &str) -> Result<Owned<$name>> {
                // SAFETY: makes a value; the text is read during the call only.
                unsafe { Owned::make(|out| sys::$from_json(out, begin(json), json.len())) }
            }

            /// A copy.
            pub fn copy(&self) -> Result<Owned<$name>> {
                // SAFETY: makes a value; `self` lives.
                unsafe { Owned::make(|out| sys::$copy(out, self.raw())) }
            }
        }

        // SAFETY: reading changes nothing.
        unsafe impl Sync for $name {}
    };
}

value! {
    /// What is trained: model, sequence length, global batch, precision,
    /// optimizer.
    ///
    /// ```
    /// use lmsimbench::{Bundle, Workload};
    ///
    /// let bundle = Bundle::embedded()?;
    /// let mut workload = Workload::new()?;
    /// workload.set_model(&bundle, "LLaMA-7B")?;
    /// workload.set("global_batch", 64)?;
    /// workload.set("precision", "bf16")?;
    /// let layers: i64 = workload.get("model.layers")?;
    /// assert_eq!(layers, 32);
    /// # Ok::<(), lmsimbench::Error>(())
    /// ```
    ///
    /// A text that was read is part of the value:
    ///
    /// ```compile_fail,E0502
    /// # let mut workload = lmsimbench::Workload::new().unwrap();
    /// let precision: &str = workload.get("precision").unwrap();
    /// workload.set("precision", "fp8").unwrap(); // error: it is borrowed
    /// println!("{precision}");
    /// ```
    Workload, lmsb_workload, lmsb_workload_new, lmsb_workload_free, lmsb_workload_to_json,
    lmsb_workload_f64, lmsb_workload_i64, lmsb_workload_text, lmsb_workload_count,
    lmsb_workload_set_f64, lmsb_workload_set_i64, lmsb_workload_set_text,
    lmsb_workload_set_json
}
question! { Workload, lmsb_workload_from_json, lmsb_workload_copy }

impl Workload {
    /// Puts in the model with this name in the bundle, or in a JSON file (a name
    /// that ends in ".json" or holds a '/').
    pub fn set_model(&mut self, bundle: &Bundle, name: &str) -> Result<()> {
        let workload: *mut Workload = self;
        // SAFETY: both live; the name is read during the call only.
        check(unsafe {
            sys::lmsb_workload_set_model(workload.cast(), bundle.raw(), begin(name), name.len())
        })
    }
}

value! {
    /// Where it is trained: accelerator and network.
    System, lmsb_system, lmsb_system_new, lmsb_system_free, lmsb_system_to_json,
    lmsb_system_f64, lmsb_system_i64, lmsb_system_text, lmsb_system_count,
    lmsb_system_set_f64, lmsb_system_set_i64, lmsb_system_set_text,
    lmsb_system_set_json
}
question! { System, lmsb_system_from_json, lmsb_system_copy }

impl System {
    /// A platform of the bundle, or a JSON file.
    pub fn find(bundle: &Bundle, name: &str) -> Result<Owned<System>> {
        // SAFETY: makes a system; the name is read during the call only.
        unsafe {
            Owned::make(|out| sys::lmsb_system_find(out, bundle.raw(), begin(name), name.len()))
        }
    }
}

value! {
    /// How it is divided.
    Config, lmsb_config, lmsb_config_new, lmsb_config_free, lmsb_config_to_json,
    lmsb_config_f64, lmsb_config_i64, lmsb_config_text, lmsb_config_count,
    lmsb_config_set_f64, lmsb_config_set_i64, lmsb_config_set_text,
    lmsb_config_set_json
}
question! { Config, lmsb_config_from_json, lmsb_config_copy }

impl Config {
    /// That of a measured run, by its record id, or a JSON file.
    pub fn find(bundle: &Bundle, record: &str) -> Result<Owned<Config>> {
        // SAFETY: makes a configuration; the text is read during the call only.
        unsafe {
            Owned::make(|out| sys::lmsb_config_find(out, bundle.raw(), begin(record), record.len()))
        }
    }

    /// An error with the message of every rule that the configuration breaks for
    /// this workload on this many devices (`None`: as many as it takes), and the
    /// nearest legal one.
    pub fn check(&self, workload: &Workload, devices: Option<u32>) -> Result<()> {
        // SAFETY: both live.
        check(unsafe { sys::lmsb_config_check(self.raw(), workload.raw(), number_of(devices)) })
    }

    /// The nearest configuration that is legal;
    /// [`Code::NotFound`](crate::Code::NotFound) if there is none.
    pub fn nearest_legal(
        &self,
        workload: &Workload,
        devices: Option<u32>,
    ) -> Result<Owned<Config>> {
        let devices = number_of(devices);
        // SAFETY: makes a configuration; both live.
        unsafe {
            Owned::make(|out| {
                sys::lmsb_config_nearest_legal(out, self.raw(), workload.raw(), devices)
            })
        }
    }
}

fn number_of(devices: Option<u32>) -> i64 {
    devices.map_or(-1, i64::from)
}

value! {
    /// What a simulator says. Its fields are `"iteration_time_s"`,
    /// `"peak_memory_bytes"`, `"verdict"` ("fits", "does not fit", "illegal"),
    /// `"time.bubble_s"`, `"memory.weights_bytes"`, `"ranks[0].compute_s"`, …
    /// A new one answers nothing. It belongs to one thread at a time.
    ///
    /// ```compile_fail,E0277
    /// fn shared_by_threads<T: Sync>() {}
    /// shared_by_threads::<lmsimbench::Prediction>(); // error: not Sync
    /// ```
    Prediction, lmsb_prediction, lmsb_prediction_new, lmsb_prediction_free,
    lmsb_prediction_to_json, lmsb_prediction_f64, lmsb_prediction_i64,
    lmsb_prediction_text, lmsb_prediction_count, lmsb_prediction_set_f64,
    lmsb_prediction_set_i64, lmsb_prediction_set_text, lmsb_prediction_set_json
}
