//! The plug-in among the examples is loaded as any other.

use lmsimbench_sys::*;
use std::env;
use std::ffi::CStr;
use std::ptr;

#[test]
fn the_plugin_of_the_examples_is_loaded_under_its_name() {
    let deps = env::current_exe().unwrap();
    let folder = deps.parent().unwrap().parent().unwrap().join("examples");
    let (prefix, suffix) = (env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let path = folder.join(format!("{prefix}plugin{suffix}"));
    let path = path.to_str().unwrap();
    let mut simulator = ptr::null_mut();
    // SAFETY: the plug-in keeps to c.h; what is made is freed once, and its name
    // is read before.
    unsafe {
        let code = lmsb_simulator_load(&mut simulator, path.as_ptr().cast(), path.len());
        let message = CStr::from_ptr(lmsb_last_error()).to_str().unwrap();
        assert_eq!(code, LMSB_OK, "{message}");
        let name = CStr::from_ptr(lmsb_simulator_name(simulator));
        assert_eq!(name.to_str().unwrap(), "plug-in in Rust");
        lmsb_simulator_free(simulator);
    }
}
