//! Bundles, views, columns and runs.

use lmsimbench::*;

#[test]
fn every_column_has_an_entry_for_every_row() {
    let bundle = Bundle::embedded().unwrap();
    assert_eq!(bundle.fingerprint().len(), 16);
    for name in [
        "iterations",
        "memory",
        "ranks",
        "operators",
        "collectives",
        "gemms",
    ] {
        let view = bundle.view(name).unwrap();
        assert_eq!(view.name(), name);
        assert!(view.rows() > 0);
        assert!(view.columns().count() > 3);
        for column in view.columns() {
            let entries = match column.entries().unwrap() {
                Entries::F64(numbers) => numbers.len(),
                Entries::I64(counts) => counts.len(),
                Entries::Strings(strings) => strings.iter().count(),
            };
            assert_eq!(entries, view.rows(), "{name}.{}", column.name());
        }
    }
    let names: Vec<&str> = bundle.views().map(View::name).collect();
    assert!(names.contains(&"sources"), "{names:?}");
}

#[test]
fn an_entry_is_never_copied() {
    let bundle = Bundle::embedded().unwrap();
    let gemms = bundle.view("gemms").unwrap();
    let (first, second) = (gemms.i64("m").unwrap(), gemms.i64("m").unwrap());
    assert_eq!(first.as_ptr(), second.as_ptr());
}

#[test]
fn a_column_of_another_type_is_an_error() {
    let bundle = Bundle::embedded().unwrap();
    let gemms = bundle.view("gemms").unwrap();
    let error = gemms.f64("platform").unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(
        gemms.strings("m").unwrap_err().code(),
        Code::InvalidArgument
    );
}

#[test]
fn an_unknown_name_comes_with_the_nearest() {
    let bundle = Bundle::embedded().unwrap();
    let error = bundle.view("gemm").unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.message().contains("gemms"), "{error}");
    let error = bundle.view("gemms").unwrap().column("platfrm").unwrap_err();
    assert!(error.message().contains("'platform'"), "{error}");
}

#[test]
fn equal_numbers_are_equal_strings() {
    let bundle = Bundle::embedded().unwrap();
    let gemms = bundle.view("gemms").unwrap().strings("platform").unwrap();
    let operators = bundle.view("operators").unwrap();
    let operators = operators.strings("platform").unwrap();
    for row in 0..operators.len().min(100) {
        let (name, id) = (operators.get(row), operators.ids()[row]);
        for other in 0..gemms.len().min(100) {
            assert_eq!(gemms.ids()[other] == id, gemms.get(other) == name);
        }
    }
}

#[test]
#[should_panic]
fn a_string_behind_the_last_row_panics() {
    let bundle = Bundle::embedded().unwrap();
    let strings = bundle.view("gemms").unwrap().strings("platform").unwrap();
    strings.get(strings.len());
}

#[test]
fn columns_are_read_by_several_threads() {
    let bundle = Bundle::embedded().unwrap();
    let gemms = bundle.view("gemms").unwrap();
    let sum = || -> i64 { gemms.i64("m").unwrap().iter().sum() };
    let expected = sum();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(sum(), expected));
        }
    });
}

#[test]
fn what_is_no_bundle_is_an_error() {
    let error = Bundle::from_static(b"no bundle at all").unwrap_err();
    assert_eq!(error.code(), Code::DataLoss, "{error}");
    // SAFETY: there is no such file.
    let error = unsafe { Bundle::open("/nowhere/at/all.bundle") }.unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
}

#[test]
fn runs_are_those_of_the_table() {
    let bundle = Bundle::embedded().unwrap();
    let measurements = Measurements::open(&bundle).unwrap();
    drop(bundle);
    let table = measurements.run_table().unwrap();
    let records = table.strings("record").unwrap();
    let devices = table.i64("devices").unwrap();
    assert_eq!(measurements.runs().len(), table.rows());
    for (row, run) in measurements.runs().enumerate() {
        assert_eq!(run.record(), records.get(row));
        let config = run.config();
        let product: i64 = ["tp", "pp", "dp", "cp"]
            .iter()
            .map(|field| config.get::<i64>(field).unwrap())
            .product();
        if product > 0 {
            assert!(product <= devices[row], "{}: {config:?}", run.record());
        }
        assert!(run.workload().get::<i64>("model.layers").is_ok());
    }
    let run = measurements.runs().next().unwrap();
    let found = measurements.find(run.record()).unwrap();
    assert_eq!(found.record(), run.record());
    let error = measurements.find("no such run").unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
    let platform = table.strings("platform").unwrap().get(0);
    assert_eq!(run.system().unwrap().get::<&str>("name").unwrap(), platform);
    let settings = measurements.setting_table().unwrap();
    assert!(settings.rows() > 0 && settings.rows() < table.rows());
}
