//! Parameters of `crc16_custom` and `crc32_custom`.

use crate::device::{Work, find_in};
use crate::service::Fault;
use crate::standard::{Crc16Config, Crc32Config, CrcCode};
use control::Update;
use hlir::CrcParameters;

/// Thrift has no unsigned numbers: the bits are the same.
pub fn parameters_16(config: &Crc16Config) -> CrcParameters {
    let number = |number: i16| u32::from(number as u16);
    CrcParameters {
        polynomial: number(config.polynomial),
        initial: number(config.initial_remainder),
        last: number(config.final_xor_value),
        reflects_data: config.data_reflected,
        reflects_remainder: config.remainder_reflected,
    }
}

pub fn parameters_32(config: &Crc32Config) -> CrcParameters {
    CrcParameters {
        polynomial: config.polynomial as u32,
        initial: config.initial_remainder as u32,
        last: config.final_xor_value as u32,
        reflects_data: config.data_reflected,
        reflects_remainder: config.remainder_reflected,
    }
}

impl Work<'_> {
    /// BMv2 knows calculations with other algorithms by name, too, and answers that their type is wrong.
    pub fn set_crc(&mut self, name: &str, width: u32, parameters: CrcParameters) -> Result<(), Fault<CrcCode>> {
        let crc = find_in(name, &self.program.crcs, |crc| crc.name.as_str()).ok_or(CrcCode::InvalidName)?;
        if self.program.crcs[crc].width != width {
            return Err(CrcCode::WrongType.into());
        }
        let set = Update::SetCrc { crc, parameters: Some(parameters) };
        self.write(&set).map_err(|refusal| Fault::Sentence(refusal.sentence))
    }
}
