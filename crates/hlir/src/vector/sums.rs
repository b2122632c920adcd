//! Internet checksums and registers as vector values.

use super::bytes::Bits;
use super::run::{Result, Run};
use super::{KeptValue, Number, Operator, Step};
use crate::{Call, Expression, HashInput, Place, Statement};

/// Words of one sum: their complements, too, add up to less than 32 bits.
const MOST_WORDS: u32 = 1 << 15;

impl Run<'_> {
    /// The sum of 16-bit words, not folded, and their number.
    pub fn words(&mut self, data: &[HashInput]) -> Result<(Number, u32)> {
        const WHOLE: &str = "sums what is not made of whole words";
        // Contiguous bits of the packet are one piece.
        let mut pieces: Vec<(u32, u32)> = Vec::new();
        let (mut sum, mut count) = (self.steps.constant(0), 0);
        for input in data {
            match input {
                // A field counts only while its header is valid.
                HashInput::Field(field) if !self.state.headers.contains_key(&field.header) => {}
                HashInput::Field(field) => {
                    let from = self.place_of(*field)?;
                    let to = from + self.program.field(*field).width;
                    match pieces.last_mut() {
                        Some(last) if last.1 == from => last.1 = to,
                        _ => pieces.push((from, to)),
                    }
                }
                HashInput::Bits(value) => {
                    let value = self.bits(value)?;
                    if !value.width.is_multiple_of(16) {
                        return Err(WHOLE);
                    }
                    count += value.width / 16;
                    for part in value.parts {
                        let (low, by) = (self.steps.fit(part, 16), self.steps.constant(16));
                        let high = self.steps.operate(Operator::ShiftRight, part, by);
                        sum = self.steps.operate(Operator::Add, sum, low);
                        sum = self.steps.operate(Operator::Add, sum, high);
                    }
                    // The next input begins a piece of its own.
                    pieces.push((u32::MAX, u32::MAX));
                }
                HashInput::Payload => return Err("sums the payload"),
            }
        }
        for (from, to) in pieces.into_iter().filter(|piece| piece.0 != u32::MAX) {
            if !from.is_multiple_of(8) || !(to - from).is_multiple_of(16) {
                return Err(WHOLE);
            }
            count += (to - from) / 16;
            let piece = self.steps.packet_sum(from / 8, to / 8, self.phase);
            sum = self.steps.operate(Operator::Add, sum, piece);
        }
        Ok((sum, count))
    }

    /// The complement of a folded sum.
    pub fn checksum(&mut self, data: &[HashInput], into: Place) -> Result<()> {
        let (sum, _) = self.words(data)?;
        let (sum, all) = (self.steps.folded(sum), self.steps.constant(0xffff));
        let part = self.steps.operate(Operator::Xor, sum, all);
        self.put(into, Bits { width: 16, parts: vec![part] })
    }

    /// Adds words to a ones' complement sum, or the complement of each.
    pub fn add_checksum(&mut self, into: Place, data: &[HashInput], subtract: bool) -> Result<()> {
        let before = self.bits(&Expression::place(into))?;
        let before = before.narrow().ok_or("sums into a variable of more than 32 bits")?;
        let (words, count) = self.words(data)?;
        if count >= MOST_WORDS {
            return Err("sums too many words");
        }
        let added = if subtract {
            let all = self.steps.constant(0xffff * count);
            self.steps.operate(Operator::Subtract, all, words)
        } else {
            words
        };
        let sum = self.steps.operate(Operator::Add, before, added);
        let sum = self.steps.folded(sum);
        self.put(into, Bits { width: 16, parts: vec![sum] })
    }

    /// Reads a register that no packet writes. Later stages and the commit phase do not read it again. The control
    /// plane may write it before the checks of exits are evaluated again, so these exits must run.
    pub fn keep(&mut self, statement: &Statement) -> Result<()> {
        const WIDE: &str = "reads a register of more than 32 bits";
        let Statement::Call(Call::ReadRegister { register, index, into }) = statement else {
            unreachable!("only values of registers are kept")
        };
        let declared = &self.program.registers[*register];
        let before = self.bits(&Expression::place(*into))?;
        let index = self.bits(index)?.narrow().ok_or("reads a register by an index of more than 32 bits")?;
        if declared.width > 32 || before.width > 32 {
            return Err(WIDE);
        }
        let read = self.steps.read(Step::Register { register: *register, of: index });
        let mut held =
            Bits { width: before.width, parts: vec![self.steps.fit(read, declared.width.min(before.width))] };
        // Beyond the end of the register, the variable keeps its value.
        if let Ok(size) = u32::try_from(declared.size) {
            let size = self.steps.constant(size);
            let is_there = self.steps.operate(Operator::Less, index, size);
            held = self.chosen(is_there, &held, &before);
        }
        let value = held.narrow().ok_or(WIDE)?;
        self.put(*into, held)?;
        let nth = self.kept.iter().filter(|kept| kept.place == self.place).count();
        self.kept.push(KeptValue { place: self.place, index: nth, value });
        self.give_up();
        Ok(())
    }
}
