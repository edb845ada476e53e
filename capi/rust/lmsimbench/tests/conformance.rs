//! Checks of what Rust brings: what is sound passes, a fault is told in words.

use lmsimbench::*;

/// What an operator takes at a share of the peak and of the bandwidth, in units
/// of so many seconds.
struct Roofline {
    unit_s: f64,
}

impl CostModel for Roofline {
    fn name(&self) -> &str {
        "roofline"
    }
    fn operator_costs(
        &self,
        system: &System,
        operators: OperatorBatch<'_>,
        costs: &mut Costs<'_>,
    ) -> Result<()> {
        let peak = 0.6 * system.get::<f64>("accelerator.bf16_flops")?;
        let bandwidth = 0.8 * system.get::<f64>("accelerator.memory_bandwidth")?;
        for (index, operator) in operators.iter().enumerate() {
            let seconds = (operator.bytes / bandwidth).max(operator.flops / peak);
            if seconds.is_finite() && seconds >= 0.0 {
                costs.answer(index, seconds / self.unit_s, Evidence::Analytic);
            }
        }
        Ok(())
    }
}

/// A time in proportion to the operations of a dense model.
struct Proportional {
    unit_s: f64,
}

impl Simulator for Proportional {
    fn name(&self) -> &str {
        "proportional"
    }
    fn predict(
        &self,
        workload: &Workload,
        system: &System,
        config: &Config,
        prediction: &mut Prediction,
    ) -> Result<()> {
        if workload.get::<i64>("model.experts")? > 0 {
            return Err(Error::new(Code::Unimplemented, "no mixture of experts"));
        }
        let width: f64 = workload.get("model.hidden")?;
        let weights = 12.0 * width * width * workload.get::<f64>("model.layers")?;
        let tokens = workload.get::<f64>("global_batch")? * workload.get::<f64>("seq_len")?;
        let devices = ["tp", "pp", "dp", "cp"]
            .iter()
            .map(|field| config.get::<f64>(field))
            .product::<Result<f64>>()?;
        let peak = 0.4 * system.get::<f64>("accelerator.bf16_flops")?;
        let time_s = 6.0 * weights * tokens / (peak * devices);
        if !time_s.is_finite() {
            let reason = "a figure is not stated";
            return Err(Error::new(Code::FailedPrecondition, reason));
        }
        prediction.set("iteration_time_s", time_s / self.unit_s)
    }
}

#[test]
fn a_sound_cost_model_passes_and_one_in_microseconds_does_not() {
    let bundle = Bundle::embedded().unwrap();
    check_cost_model(&bundle, &Roofline { unit_s: 1.0 }).unwrap();
    let error = check_cost_model(&bundle, &Roofline { unit_s: 1e-6 }).unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition);
    assert!(error.message().contains("microseconds"), "{error}");
}

#[test]
fn a_sound_simulator_passes_and_one_in_microseconds_does_not() {
    let bundle = Bundle::embedded().unwrap();
    check_simulator(&bundle, &Proportional { unit_s: 1.0 }).unwrap();
    let error = check_simulator(&bundle, &Proportional { unit_s: 1e-6 }).unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition);
    assert!(error.message().contains("microseconds"), "{error}");
}

#[test]
fn a_panic_is_a_fault_that_the_report_tells() {
    struct Panics;
    impl CostModel for Panics {
        fn name(&self) -> &str {
            "panics"
        }
        fn operator_costs(
            &self,
            _: &System,
            _: OperatorBatch<'_>,
            _: &mut Costs<'_>,
        ) -> Result<()> {
            panic!("not at all")
        }
    }
    // The check asks often; the hook need not tell each time.
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.to_string().contains("not at all") {
            tell(panic);
        }
    }));
    let bundle = Bundle::embedded().unwrap();
    let error = check_cost_model(&bundle, &Panics).unwrap_err();
    assert!(error.message().contains("not at all"), "{error}");
}
