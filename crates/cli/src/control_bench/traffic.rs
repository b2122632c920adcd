//! What it brings to plan specialised code for a sample of the packets, and what samples cost the packets.

use super::report::Records;
use super::rig::Rig;
use crate::run::live::{Built, TapUser};
use crate::run::pushed::{self, Builder};
use crate::run::sampling::{Sample, Sampling, Stage};
use crate::run::specialised_code;
use crate::run::traffic::Traffic;
use control::{DataPlane as _, Facts, Refusal};
use driver::failure::Failure;
use driver::frontend::Loaded;
use std::time::{Duration, Instant};

/// Turns of each kind.
const TURNS: u32 = 5;
/// Between two looks at what workers have copied, as of a running switch.
const LOOK: Duration = Duration::from_millis(100);

pub fn traffic(rig: &Rig, builder: &Builder, time: Duration, records: &mut Records) -> Result<(), Failure> {
    let begin = Instant::now();
    let mut sampling = Sampling::default();
    let sample = loop {
        sampling.begin(begin.elapsed());
        let mut live = rig.switch.lock();
        sampling.collect(&mut live, begin.elapsed());
        if sampling.stage(begin.elapsed()) == Stage::Over {
            let locked = Instant::now();
            let sample = sampling.take(&mut live);
            records.note("time that controllers wait for it", locked.elapsed().as_secs_f64() * 1e3, "ms");
            break sample;
        }
        drop(live);
        std::thread::sleep(LOOK);
    };
    let sample = sample
        .ok_or_else(|| Failure::input("the switch holds more than a sample copies (docs/passes/specialise.md)"))?;
    records.note("time until a sample is full", begin.elapsed().as_secs_f64() * 1e3, "ms");
    let (estimated, sampled) = built(rig, builder, sample, records)?;
    let turn = time / TURNS;
    let (mut generic, mut of_estimates, mut of_sample) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        for (code, rates) in
            [(None, &mut generic), (Some(&estimated), &mut of_estimates), (Some(&sampled), &mut of_sample)]
        {
            exchange(rig, code)?;
            rates.push(rig.packet_rate(|| std::thread::sleep(turn)));
        }
    }
    let generic = median(generic);
    records.note("rate of code planned by estimates, of generic code's", median(of_estimates) / generic, "of it");
    records.note("rate of code planned for a sample, of generic code's", median(of_sample) / generic, "of it");
    let (mut quiet, mut during) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        quiet.push(rig.packet_rate(|| std::thread::sleep(turn)));
        during.push(rig.packet_rate(|| one_sample_after_the_other(rig, turn)));
    }
    let ratio = median(during) / median(quiet);
    records.at_least("rate while samples are taken all the time", ratio, "of it", 0.99);
    Ok(())
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// Specialised code for what the tables hold, planned by estimates and for the sample.
fn built(rig: &Rig, builder: &Builder, sample: Sample, records: &mut Records) -> Result<(Built, Built), Failure> {
    let (program, mut builder) = {
        let mut live = rig.switch.lock();
        let engine = live.engine().expect("it has a pipeline");
        let (program, facts) = (engine.program(), Facts::of(engine.store()).hold(engine.store()));
        let mut builder = builder.with_passes_of(&program);
        specialised_code::set_passes(&mut builder.passes, &mut live, facts);
        (program, builder)
    };
    let build =
        |builder: &Builder| pushed::build_loaded(builder, Loaded { program: (*program).clone(), plan: None }, |_| {});
    let estimated = build(&builder)?;
    let begin = Instant::now();
    let traffic = Traffic::of(&program, &builder.passes, sample)?;
    records.note("packets of the sample", traffic.packets as f64, "");
    records.note("time to follow them through the program", begin.elapsed().as_secs_f64() * 1e3, "ms");
    builder.passes.counted = Some(traffic.profile);
    Ok((estimated, build(&builder)?))
}

/// Specialised code, or the generic one.
fn exchange(rig: &Rig, code: Option<&Built>) -> Result<(), Failure> {
    let mut live = rig.switch.lock();
    let engine = live.engine().expect("it has a pipeline");
    let exchanged = match code {
        Some(built) => engine.specialise(&built.compiled, built.pipeline.clone()),
        None => engine.generalise(),
    };
    exchanged.map_err(|refusal: Refusal| Failure::environment(refusal.to_string()))
}

/// As a running switch takes them, without a pause between two.
fn one_sample_after_the_other(rig: &Rig, time: Duration) {
    let (begin, mut sampling) = (Instant::now(), Sampling::default());
    while begin.elapsed() < time {
        let mut live = rig.switch.lock();
        sampling.begin(begin.elapsed());
        sampling.collect(&mut live, begin.elapsed());
        if sampling.stage(begin.elapsed()) == Stage::Over {
            drop(sampling.take(&mut live));
        }
        drop(live);
        std::thread::sleep(LOOK);
    }
    rig.switch.lock().untap(TapUser::Sample);
}
