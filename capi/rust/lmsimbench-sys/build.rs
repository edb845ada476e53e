//! Says where liblmsimbench_c lies.

use std::env;
use std::process::Command;

const LIBRARY: &str = "lmsimbench_c";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=LMSIMBENCH_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if env::var_os("CARGO_FEATURE_LINK").is_none() {
        return;
    }
    println!("cargo:rustc-link-lib=dylib={}", LIBRARY);
    match env::var("LMSIMBENCH_LIB_DIR") {
        Ok(folder) => println!("cargo:rustc-link-search=native={}", folder),
        Err(_) => search_with_pkg_config(),
    }
}

fn search_with_pkg_config() {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".to_string());
    let way_out = "set LMSIMBENCH_LIB_DIR to the folder of the library, \
                   or PKG_CONFIG_PATH to that of lmsimbench_c.pc";
    let output = Command::new(&program)
        // A folder where the linker looks anyway is told too.
        .env("PKG_CONFIG_ALLOW_SYSTEM_LIBS", "1")
        .args(["--libs-only-L", "--print-errors", LIBRARY])
        .output()
        .unwrap_or_else(|error| panic!("{} does not run: {}; {}", program, error, way_out));
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        panic!(
            "{} does not know {}; {}\n{}",
            program, LIBRARY, way_out, said
        );
    }
    for word in String::from_utf8_lossy(&output.stdout).split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={}", folder);
        }
    }
}
