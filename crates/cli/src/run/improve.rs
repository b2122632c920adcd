//! Full optimization while packets flow already: a switch in the place of BMv2 forwards as soon as code is there, and gets better code later.
//!
//! A program whose C takes the compiler more than about a second is compiled quickly first (`driver::compile::Code`). Its plan, tables and
//! counters are those of the better code, which takes over between two bursts.

use super::live::{Built, Live, Shared};
use native::Replay;
use runtime::Pipeline;
use std::sync::Arc;

/// Compiles the better code of a pipeline that was just set in the switch, and exchanges it if the same one still runs then.
pub fn improve<L: Replay + Send + 'static>(switch: &Shared<L>, live: &mut Live<L>, built: &Built) {
    let Some(code) = built.better.clone() else { return };
    let (switch, quick) = (switch.clone(), built.clone());
    let improve = move || {
        let pipeline = code.pipeline_without_progress();
        let mut live = switch.lock();
        live.improvements -= 1;
        match pipeline {
            Ok(pipeline) => exchange(&mut live, &quick, pipeline),
            Err(failure) => warn(&failure.message()),
        }
    };
    // The switch may end meanwhile.
    match std::thread::Builder::new().name("improve".to_string()).spawn(improve) {
        Ok(_) => live.improvements += 1,
        Err(error) => warn(&error),
    }
}

fn exchange<L: Replay>(live: &mut Live<L>, quick: &Built, pipeline: Arc<Pipeline>) {
    let Some(engine) = live.engine() else { return };
    // A controller may have set another pipeline.
    if !Arc::ptr_eq(engine.switch().pipeline(), &quick.pipeline) {
        return;
    }
    match engine.exchange(&quick.compiled, pipeline) {
        Ok(()) => eprintln!("note: {} runs fully optimized", quick.compiled.name),
        Err(refusal) => warn(&refusal),
    }
}

/// The user need not do anything for the switch to forward, but has a way to the better code.
fn warn(why: &dyn std::fmt::Display) {
    eprintln!(
        "warning: less optimized code goes on; once the cause is mended, start the switch again or push the program \
         again: {why}"
    );
}
