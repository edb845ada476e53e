//! The declarations of this crate are those of c.h and of the list of exported
//! symbols, read from the files beside this crate.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(project().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// All of this crate's source.
fn crate_source() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        all += &fs::read_to_string(entry.unwrap().path()).unwrap();
    }
    all
}

fn without_comments(c: &str) -> String {
    let mut rest = c;
    let mut out = String::new();
    while let Some(begin) = rest.find("/*") {
        out += &rest[..begin];
        let end = rest[begin..].find("*/").expect("a comment ends");
        rest = &rest[begin + end + 2..];
    }
    out + rest
}

/// The type of Rust for one of C: "const double * *" is "*mut *const f64".
fn rust_type(c: &str) -> String {
    let spaced = c.replace('*', " * ");
    let mut words = spaced.split_whitespace().peekable();
    let mut constant = words.next_if_eq(&"const").is_some();
    let mut out = match words.next().expect("a type has a name") {
        "double" => "f64",
        "int64_t" => "i64",
        "int32_t" => "i32",
        "uint32_t" => "u32",
        "size_t" => "usize",
        "char" => "c_char",
        "void" => "c_void",
        other => other,
    }
    .to_string();
    for word in words {
        match word {
            "*" => {
                out = format!("*{} {out}", if constant { "const" } else { "mut" });
                constant = false;
            }
            "const" => constant = true,
            other => panic!("'{other}' in '{c}'"),
        }
    }
    out
}

fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The functions of the header: name, and its declaration in Rust.
fn functions_of_header() -> BTreeMap<String, String> {
    let header = without_comments(&read("capi/include/lmsimbench/c.h"));
    let mut functions = BTreeMap::new();
    for declaration in header.split("\nLMSB_API ").skip(1) {
        let declaration = collapse(&declaration[..declaration.find(';').unwrap()]);
        let open = declaration.find('(').unwrap();
        let start = declaration[..open].rfind([' ', '*']).unwrap() + 1;
        let name = declaration[start..open].to_string();
        let parameters = &declaration[open + 1..declaration.rfind(')').unwrap()];
        let parameters: Vec<String> = parameters
            .split(", ")
            .map(|parameter| parameter.trim())
            .filter(|parameter| *parameter != "void")
            .map(|parameter| {
                let start = parameter.rfind([' ', '*']).unwrap() + 1;
                format!(
                    "{}: {}",
                    &parameter[start..],
                    rust_type(&parameter[..start])
                )
            })
            .collect();
        let result = match declaration[..start].trim() {
            "void" => String::new(),
            result => format!(" -> {}", rust_type(result)),
        };
        let rust = format!("({}){result}", parameters.join(", "));
        functions.insert(name, rust);
    }
    functions
}

/// The same of this crate.
fn functions_of_crate() -> BTreeMap<String, String> {
    let source = crate_source();
    let mut functions = BTreeMap::new();
    for declaration in source.split("pub fn ").skip(1) {
        let declaration = collapse(&declaration[..declaration.find(';').unwrap()]);
        let open = declaration.find('(').unwrap();
        let rust = declaration[open..].replace("( ", "(").replace(", )", ")");
        functions.insert(declaration[..open].to_string(), rust);
    }
    functions
}

#[test]
fn every_exported_symbol_is_declared_and_no_other() {
    let symbols = read("capi/symbols.txt");
    let exported: BTreeSet<&str> = symbols.lines().collect();
    let declared = functions_of_crate();
    let declared: BTreeSet<&str> = declared.keys().map(String::as_str).collect();
    let missing: Vec<_> = exported.difference(&declared).collect();
    let unknown: Vec<_> = declared.difference(&exported).collect();
    assert!(missing.is_empty(), "exported, not declared: {missing:?}");
    assert!(unknown.is_empty(), "declared, not exported: {unknown:?}");
    assert!(exported.len() > 100);
}

#[test]
fn every_function_is_declared_as_in_the_header() {
    let header = functions_of_header();
    let declared = functions_of_crate();
    for (name, rust) in &header {
        assert_eq!(declared.get(name), Some(rust), "{name}");
    }
    assert_eq!(header.len(), declared.len());
}
