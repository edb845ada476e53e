//! Fields, JSON and rules.

mod common;

use common::question;
use lmsimbench::*;

#[test]
fn fields_are_read_and_written_by_their_type() {
    let mut config = Config::new().unwrap();
    config.set("tp", 8).unwrap();
    assert_eq!(config.get::<i64>("tp").unwrap(), 8);
    assert_eq!(config.get::<f64>("tp").unwrap(), 8.0);
    config.set("schedule", "1f1b").unwrap();
    assert_eq!(config.get::<&str>("schedule").unwrap(), "1f1b");
    config.set("sequence_parallel", true).unwrap();
    assert_eq!(config.get::<i64>("sequence_parallel").unwrap(), 1);
    config.set_json("stage_layers", "[3, 4]").unwrap();
    assert_eq!(config.count("stage_layers").unwrap(), 2);
    assert_eq!(config.get::<i64>("stage_layers[1]").unwrap(), 4);
}

#[test]
fn what_is_missing_is_nan_or_minus_one() {
    let system = System::new().unwrap();
    assert!(system
        .get::<f64>("accelerator.memory_bytes")
        .unwrap()
        .is_nan());
    assert_eq!(Workload::new().unwrap().get::<i64>("seq_len").unwrap(), -1);
}

#[test]
fn an_unknown_field_comes_with_the_nearest_name() {
    let mut config = Config::new().unwrap();
    let error = config.set("tpp", 1).unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.message().contains("'tp'"), "{error}");
    assert!(error.to_string().starts_with("NOT_FOUND: "), "{error}");
    let error = config.get::<&str>("schedul").unwrap_err();
    assert!(error.message().contains("'schedule'"), "{error}");
}

#[test]
fn a_value_that_does_not_suit_is_refused_and_changes_nothing() {
    let mut config = Config::new().unwrap();
    config.set("tp", 4).unwrap();
    assert_eq!(
        config.set("tp", 1.5).unwrap_err().code(),
        Code::InvalidArgument
    );
    assert_eq!(
        config.set("tp", -2).unwrap_err().code(),
        Code::InvalidArgument
    );
    assert_eq!(config.get::<i64>("tp").unwrap(), 4);
    let mut system = System::new().unwrap();
    let infinite = system.set("accelerator.memory_bytes", f64::INFINITY);
    assert_eq!(infinite.unwrap_err().code(), Code::InvalidArgument);
}

#[test]
fn json_holds_all_of_a_value() {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    let again = Workload::from_json(&q.workload.to_json().unwrap()).unwrap();
    assert_eq!(again.to_json().unwrap(), q.workload.to_json().unwrap());
    let error = Config::from_json("{\"tp\": \"four\"}").unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("tp"), "{error}");
}

#[test]
fn a_copy_is_a_value_of_its_own() {
    let mut config = Config::new().unwrap();
    config.set("tp", 2).unwrap();
    let copy = config.copy().unwrap();
    config.set("tp", 4).unwrap();
    assert_eq!(copy.get::<i64>("tp").unwrap(), 2);
    drop(config);
    assert_eq!(copy.get::<i64>("tp").unwrap(), 2);
}

#[test]
fn an_illegal_configuration_is_told_the_rule_and_the_way_out() {
    let bundle = Bundle::embedded().unwrap();
    let mut q = question(&bundle);
    q.config.check(&q.workload, Some(16)).unwrap();
    q.config.set("tp", 5).unwrap();
    let error = q.config.check(&q.workload, None).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("32 attention heads"), "{error}");
    let legal = q.config.nearest_legal(&q.workload, None).unwrap();
    legal.check(&q.workload, None).unwrap();
}

#[test]
fn every_thread_has_its_own_message() {
    // Both fail at the same moment, many times, and read their own message.
    std::thread::scope(|scope| {
        for name in ["tpp", "ppp"] {
            scope.spawn(move || {
                let config = Config::new().unwrap();
                for _ in 0..200 {
                    let error = config.get::<i64>(name).unwrap_err();
                    assert!(error.message().contains(name), "{name}: {error}");
                }
            });
        }
    });
}

#[test]
fn a_value_that_is_not_changed_is_read_by_several_threads() {
    let bundle = Bundle::embedded().unwrap();
    let q = question(&bundle);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                assert_eq!(q.workload.get::<i64>("model.layers").unwrap(), 32);
                assert_eq!(q.workload.get::<&str>("precision").unwrap(), "bf16");
                assert_eq!(q.system.get::<&str>("name").unwrap(), "a100-sxm4-80g");
            });
        }
    });
}

#[test]
fn the_library_tells_its_release() {
    assert!(version().split('.').count() == 3, "{}", version());
}
