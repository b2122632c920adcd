//! Full optimization while packets flow already: what stands in for BMv2 forwards as soon as code is there, and gets better code later.
//!
//! A program whose C takes the compiler more than about a second is compiled quickly first (`driver::compile::Code`). Its plan, tables and
//! counters are those of the better code, which takes over between two bursts.

use super::live::{Built, Shared};
use native::Replay;
use std::sync::Arc;

/// Compiles the better code of a pipeline that was just set, and exchanges it if the same one still runs then.
pub fn improve<L: Replay + Send + 'static>(switch: &Shared<L>, built: &Built) {
    let Some(code) = built.better.clone() else { return };
    let (switch, quick, compiled) = (switch.clone(), built.pipeline.clone(), built.compiled.clone());
    let improve = move || {
        let pipeline = match code.pipeline_without_progress() {
            Ok(pipeline) => pipeline,
            Err(failure) => return warn(&failure.message()),
        };
        let mut live = switch.lock();
        let Some(engine) = live.engine() else { return };
        // A controller may have set another pipeline.
        if !Arc::ptr_eq(engine.switch().pipeline(), &quick) {
            return;
        }
        match engine.exchange(&compiled, pipeline) {
            Ok(()) => eprintln!("note: {} runs fully optimized", compiled.name),
            Err(refusal) => warn(&refusal),
        }
    };
    // The switch may end meanwhile.
    if let Err(error) = std::thread::Builder::new().name("improve".to_string()).spawn(improve) {
        warn(&error);
    }
}

/// The user need not do anything for the switch to forward, but has a way to the better code.
fn warn(why: &dyn std::fmt::Display) {
    eprintln!(
        "warning: less optimized code goes on; once the cause is mended, start the switch again or push the program \
         again: {why}"
    );
}
