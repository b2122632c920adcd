//! Ports, in the forms that the protocol has had for them.
//!
//! The switch knows a port by its number. A controller may have named the port of the controller by the protocol's own number, or may
//! have used a field that the protocol has given up since. What it reads is in the form that it wrote.

use crate::failure::{Failure, Outcome};
use crate::value;

/// The protocol's number of the CPU port.
const SDN_CPU: u32 = 0xffff_fffd;

/// The field was a number, which the protocol has given up.
const NUMBER: u8 = 1;
/// The CPU port was named by the protocol's number.
const OF_CONTROLLER: u8 = 2;

/// Reads the ports of an object in their order, and notes the form of each.
pub struct PortReader {
    /// The CPU port's number in the running program.
    cpu_port: Option<u32>,
    forms: Vec<u8>,
}

impl PortReader {
    pub fn new(cpu_port: Option<u32>) -> PortReader {
        PortReader { cpu_port, forms: Vec::new() }
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> Outcome<u32> {
        let number = value::read(bytes, 32, "port")?;
        let number = number.iter_u32_digits().next().unwrap_or(0);
        Ok(self.switch_number(number, 0))
    }

    pub fn number(&mut self, number: u32) -> u32 {
        self.switch_number(number, NUMBER)
    }

    /// A port that a member watches; none if there are no bytes.
    pub fn watched(&mut self, bytes: &[u8]) -> Outcome<Option<u32>> {
        if bytes.is_empty() { Ok(None) } else { self.bytes(bytes).map(Some) }
    }

    pub fn watched_number(&mut self, number: i32) -> Outcome<u32> {
        let number = u32::try_from(number).map_err(|_| Failure::invalid("the watched port is negative"))?;
        Ok(self.number(number))
    }

    fn switch_number(&mut self, number: u32, form: u8) -> u32 {
        if number == SDN_CPU {
            self.forms.push(form | OF_CONTROLLER);
            return self.cpu_port.unwrap_or(number);
        }
        self.forms.push(form);
        number
    }

    /// The forms, with what else the controller attached to the object.
    pub fn note(self, attached: &[u8]) -> Vec<u8> {
        let count = self.forms.iter().rposition(|form| *form != 0).map_or(0, |last| last + 1);
        if count == 0 && attached.is_empty() {
            return Vec::new();
        }
        [&(count as u32).to_be_bytes(), &self.forms[..count], attached].concat()
    }
}

/// A port as a controller reads it.
pub enum Written {
    Bytes(Vec<u8>),
    Number(u32),
}

impl Written {
    /// For fields that are bytes in every version.
    pub fn bytes(self) -> Vec<u8> {
        match self {
            Written::Bytes(bytes) => bytes,
            Written::Number(number) => value::write(&number.into()),
        }
    }
}

/// Writes the ports of an object in their order, each in its form.
pub struct PortWriter<'n> {
    forms: std::slice::Iter<'n, u8>,
}

impl<'n> PortWriter<'n> {
    /// From a note of [`PortReader::note`]. Gives what else was attached, too.
    pub fn new(note: &'n [u8]) -> (PortWriter<'n>, &'n [u8]) {
        let (forms, attached) = match note.split_first_chunk::<4>() {
            Some((count, rest)) => rest.split_at((u32::from_be_bytes(*count) as usize).min(rest.len())),
            None => (&[][..], &[][..]),
        };
        (PortWriter { forms: forms.iter() }, attached)
    }

    pub fn next(&mut self, port: u32) -> Written {
        let form = self.forms.next().copied().unwrap_or(0);
        let number = if form & OF_CONTROLLER == 0 { port } else { SDN_CPU };
        if form & NUMBER == 0 { Written::Bytes(value::write(&number.into())) } else { Written::Number(number) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_come_back_in_the_form_in_which_they_were_written() {
        let mut reader = PortReader::new(Some(510));
        let numbers = [reader.number(3), reader.bytes(&[0, 4]).expect("it fits"), reader.number(SDN_CPU)];
        let last = reader.bytes(&[0xff, 0xff, 0xff, 0xfd]).expect("it fits");
        assert_eq!((numbers, last), ([3, 4, 510], 510));
        let note = reader.note(b"of the controller");
        let (mut writer, attached) = PortWriter::new(&note);
        assert!(matches!(writer.next(3), Written::Number(3)));
        assert!(matches!(writer.next(4), Written::Bytes(bytes) if bytes == [4]));
        assert!(matches!(writer.next(510), Written::Number(SDN_CPU)));
        assert!(matches!(writer.next(510), Written::Bytes(bytes) if bytes == [0xff, 0xff, 0xff, 0xfd]));
        assert_eq!(attached, b"of the controller");
    }

    #[test]
    fn ports_in_the_usual_form_need_no_note() {
        let mut reader = PortReader::new(None);
        assert_eq!(reader.bytes(&[7]).expect("it fits"), 7);
        assert!(reader.note(&[]).is_empty());
        assert!(matches!(PortWriter::new(&[]).0.next(7), Written::Bytes(bytes) if bytes == [7]));
    }
}
