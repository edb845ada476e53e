//! Which threads may call a simulator or a cost model.

use std::marker::PhantomData;

/// May be called by several threads at once: built-in simulators and models, and
/// those of Rust that are `Send` and `Sync`.
#[derive(Clone, Copy, Debug)]
pub enum Shared {}

/// Stays on the thread that made it.
#[derive(Clone, Copy, Debug)]
pub struct Local {
    _stays: PhantomData<*mut ()>,
}
