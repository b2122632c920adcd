//! Records of digests for controllers of BMv2: lists of them are published, and acknowledged over Thrift.

use crate::notifications::Publisher;
use crate::standard::LearnCode;
use control::plane::{DigestConfig, DigestRecord};
use hlir::{DigestId, Program};
use p4runtime::{DigestConfigs, DigestList, Digests};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// As in BMv2: a list has 16 records at most, and waits a second for them. Without an acknowledgement, no record comes again.
const CONFIG: DigestConfig = DigestConfig { timeout_ns: 1_000_000_000, largest_list: 16, acknowledge_ns: u64::MAX };

/// The lists of the program that runs.
pub struct Learning {
    publisher: Publisher,
    device_id: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    program: Option<Arc<Program>>,
    digests: Digests,
    configs: DigestConfigs,
}

impl Learning {
    pub(crate) fn new(publisher: Publisher, device_id: u64) -> Learning {
        Learning { publisher, device_id, state: Mutex::default() }
    }

    pub(crate) fn address(&self) -> &str {
        self.publisher.address()
    }

    /// Whether a controller is connected. What no one hears is not kept: it comes again.
    pub fn is_wanted(&self) -> bool {
        self.publisher.is_heard()
    }

    /// Takes what the program has sent, and publishes the lists that are full or whose time has come. To be called now and then.
    pub fn take(&self, program: &Arc<Program>, records: Vec<DigestRecord>) {
        let (mut state, now) = (self.state(program), Instant::now());
        let State { digests, configs, .. } = &mut *state;
        for DigestRecord { digest, values } in records {
            let config = configs.get(&digest).copied().unwrap_or(CONFIG);
            let list = digests.push(digest, values, &config, now);
            list.iter().for_each(|list| self.publish(program, list));
        }
        digests.due(configs, now).iter().for_each(|list| self.publish(program, list));
    }

    fn publish(&self, program: &Program, list: &DigestList) {
        let mut message = b"LEA|".to_vec();
        message.extend(self.device_id.to_le_bytes());
        // The context, the only one.
        message.extend([0; 4]);
        message.extend((list.digest.into_raw().into_u32() + 1).to_le_bytes());
        message.extend(list.number.to_le_bytes());
        message.extend((list.records.len() as u32).to_le_bytes());
        for record in &list.records {
            for (value, (_, width)) in record.iter().zip(&program.digests[list.digest].fields) {
                let bytes = value.to_bytes_be();
                let length = width.div_ceil(8) as usize;
                message.extend(std::iter::repeat_n(0, length.saturating_sub(bytes.len())));
                message.extend(&bytes[bytes.len().saturating_sub(length)..]);
            }
        }
        self.publisher.publish(message);
    }

    /// A controller has records of a list, or all of it.
    pub(crate) fn acknowledge(
        &self,
        program: &Arc<Program>,
        list: i32,
        buffer: i64,
        records: Option<&[i32]>,
    ) -> Result<(), LearnCode> {
        let digest = digest(program, list)?;
        let mut state = self.state(program);
        match records {
            None => state.digests.acknowledge(digest, buffer as u64),
            Some(records) => {
                let records: Vec<usize> = records.iter().filter_map(|at| usize::try_from(*at).ok()).collect();
                state.digests.acknowledge_some(digest, buffer as u64, &records);
            }
        }
        Ok(())
    }

    /// Changes how long a list waits, or how many records it has.
    pub(crate) fn set(
        &self,
        program: &Arc<Program>,
        list: i32,
        change: impl FnOnce(&mut DigestConfig),
    ) -> Result<(), LearnCode> {
        let digest = digest(program, list)?;
        change(self.state(program).configs.entry(digest).or_insert(CONFIG));
        Ok(())
    }

    pub(crate) fn close(&self) {
        self.publisher.close();
    }

    /// Forgets what was published.
    pub(crate) fn reset(&self) {
        self.lock().digests.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists are those of one program.
    fn state(&self, program: &Arc<Program>) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        if state.program.as_ref().is_none_or(|known| !Arc::ptr_eq(known, program)) {
            let configs = program.digests.iter().map(|(id, _)| (id, CONFIG)).collect();
            *state = State { program: Some(program.clone()), configs, ..State::default() };
        }
        state
    }
}

/// Lists are numbered from 1, in the program's order.
fn digest(program: &Program, list: i32) -> Result<DigestId, LearnCode> {
    let at = usize::try_from(list).ok().and_then(|list| list.checked_sub(1));
    at.and_then(|at| program.digests.iter().nth(at)).map(|(id, _)| id).ok_or(LearnCode::InvalidId)
}
