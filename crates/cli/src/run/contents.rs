//! What a running switch holds at one moment, copied for an interpreter that follows its packets.

use super::live::Engine;
use control::{DataPlane as _, Refusal, Store};
use hlir::RegisterId;
use native::Replay;
use num_bigint::BigUint;

/// Elements of a register that are copied; the others are taken to be 0.
pub const MOST_ELEMENTS: u64 = 1 << 16;

/// See the module.
pub struct Contents {
    pub store: Store,
    /// Elements that are not 0.
    registers: Vec<(RegisterId, u64, BigUint)>,
    /// When an interpreter begins.
    clock_ns: u64,
}

impl Contents {
    /// Copies what the switch holds. Its packets go on meanwhile; controllers wait.
    pub fn of<L: Replay>(engine: &mut Engine<L>) -> Contents {
        let registers = registers(engine);
        Contents { store: engine.store().clone(), registers, clock_ns: engine.switch().clock() }
    }

    /// For packets from this time on, which came before the copy was made.
    pub fn since(self, clock_ns: u64) -> Contents {
        Contents { clock_ns, ..self }
    }

    /// Into an interpreter that is new.
    ///
    /// # Errors
    /// A table or register of its program has less room.
    pub fn restore_into(&self, interpreter: &mut interp::Switch<'_>) -> Result<(), Refusal> {
        // Entries age from now on, and meters are full.
        interpreter.set_clock(self.clock_ns);
        interpreter.restore(self.store.clone())?;
        self.registers
            .iter()
            .try_for_each(|(register, index, value)| interpreter.write_register(*register, *index, value))
    }
}

fn registers<L: Replay>(engine: &mut Engine<L>) -> Vec<(RegisterId, u64, BigUint)> {
    let (program, mut found) = (engine.program(), Vec::new());
    for (id, register) in program.registers.iter() {
        for index in 0..register.size.min(MOST_ELEMENTS) {
            match engine.read_register(id, index) {
                Ok(value) if value != BigUint::ZERO => found.push((id, index, value)),
                Ok(_) => {}
                // One that the optimizer has taken away.
                Err(_) => break,
            }
        }
    }
    found
}
