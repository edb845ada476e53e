//! The C interface of lmsimbench as it stands: every function, struct and
//! constant of `lmsimbench/c.h`, by the same name and in the same order.
//!
//! What they mean, who owns what and which threads may call is written in that
//! header and not repeated here. The crate `lmsimbench` wraps all of it safely.
//!
//! `build.rs` finds the library: in the folder `LMSIMBENCH_LIB_DIR`, else by
//! the program `pkg-config`. A plug-in, which is handed its functions by its
//! host ([`lmsb_host`]) and must not link the library, takes this crate with
//! `default-features = false`.
#![allow(non_camel_case_types)]

/// Types that only pointers reach, and that stay with the thread they are on
/// until somebody promises more.
macro_rules! opaque {
    ($($name:ident),+ $(,)?) => {$(
        #[repr(C)]
        pub struct $name {
            _bytes: [u8; 0],
            _marker: std::marker::PhantomData<*mut ()>,
        }
    )+};
}

mod conformance;
mod cost_models;
mod errors;
mod graphs;
mod measurements;
mod plugins;
mod scoring;
mod simulators;
mod text;
mod values;

pub use conformance::*;
pub use cost_models::*;
pub use errors::*;
pub use graphs::*;
pub use measurements::*;
pub use plugins::*;
pub use scoring::*;
pub use simulators::*;
pub use text::*;
pub use values::*;
