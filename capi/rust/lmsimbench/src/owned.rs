//! Objects of the library, and who owns them.

use crate::error::{check, Code, Error, Result};
use lmsimbench_sys as sys;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};

/// A type that stands for objects of the library, which Rust only ever sees
/// behind a pointer.
///
/// # Safety
/// A pointer to `Self` is a pointer to `Raw`, `Self` has no size, and `FREE`
/// frees what the library gave away as a new object of this type.
pub unsafe trait Object {
    /// The type of the C interface.
    type Raw;
    /// What frees it.
    const FREE: unsafe extern "C" fn(*mut Self::Raw);
}

/// An object that its holder owns: to `T` what `String` is to `str`. Frees it
/// when dropped.
pub struct Owned<T: Object> {
    object: NonNull<T>,
}

impl<T: Object> Owned<T> {
    /// Makes an object by a function that writes it to its first argument.
    ///
    /// # Safety
    /// If `make` returns LMSB_OK, it has written a new object of type `T`.
    pub(crate) unsafe fn make(
        make: impl FnOnce(*mut *mut T::Raw) -> sys::lmsb_code,
    ) -> Result<Owned<T>> {
        // SAFETY: it takes no arguments.
        check_version(unsafe { sys::lmsb_abi_version() })?;
        let mut raw: *mut T::Raw = ptr::null_mut();
        check(make(&mut raw))?;
        let object = NonNull::new(raw.cast()).expect("what is made is not NULL");
        Ok(Owned { object })
    }
}

impl<T: Object> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: the object is of this type and nobody else frees it.
        unsafe { T::FREE(self.object.as_ptr().cast()) }
    }
}

impl<T: Object> Deref for Owned<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: it lives until it is dropped here.
        unsafe { self.object.as_ref() }
    }
}

impl<T: Object> DerefMut for Owned<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: it lives until it is dropped here. What can be swapped through
        // the reference has no size.
        unsafe { self.object.as_mut() }
    }
}

impl<T: Object + fmt::Debug> fmt::Debug for Owned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

// SAFETY: an owner is a pointer to an object that may change its thread.
unsafe impl<T: Object + Send> Send for Owned<T> {}
// SAFETY: a shared owner gives shared objects only.
unsafe impl<T: Object + Sync> Sync for Owned<T> {}

/// Declares a type that stands for objects of the library.
macro_rules! object {
    ($(#[$meta:meta])* $name:ident, $raw:ident, $free:ident) => {
        $(#[$meta])*
        #[repr(transparent)]
        pub struct $name(lmsimbench_sys::$raw);

        // SAFETY: transparent around a type without size; its own function frees
        // it.
        unsafe impl $crate::owned::Object for $name {
            type Raw = lmsimbench_sys::$raw;
            const FREE: unsafe extern "C" fn(*mut lmsimbench_sys::$raw) =
                lmsimbench_sys::$free;
        }

        impl $name {
            pub(crate) fn raw(&self) -> *const lmsimbench_sys::$raw {
                &self.0
            }
        }
    };
}

/// Prints the name of a type where its contents are not for print.
macro_rules! debug_by_name {
    ($($name:ident),+ $(,)?) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )+};
}

/// Until 1.0 the interface of a library may differ in anything from one version
/// to the next, and nobody else notices. Every use begins with making an object.
fn check_version(loaded: u32) -> Result<()> {
    let known = sys::LMSB_ABI_VERSION;
    if loaded == known {
        return Ok(());
    }
    let message = format!(
        "the library that is loaded has version {loaded} of its interface, this crate knows {known}"
    );
    Err(Error::new(Code::FailedPrecondition, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_of_another_version_is_refused_by_number() {
        check_version(sys::LMSB_ABI_VERSION).unwrap();
        let error = check_version(sys::LMSB_ABI_VERSION + 1).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition);
        let number = format!("version {}", sys::LMSB_ABI_VERSION + 1);
        assert!(error.message().contains(&number), "{error}");
    }
}
