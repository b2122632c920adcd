//! Hashes whose parameters can be changed.

use crate::problem::{Outcome, input};
use crate::session::{Session, exactly};
use crate::values::number;
use bm_runtime::Binary;
use bm_runtime::standard::{Crc16Config, Crc32Config};

/// The bits of a number that must fit into so many.
fn bits(text: &str, width: u32) -> Outcome<u32> {
    let Some(number) = number(text) else { return input("Invalid number") };
    match u32::try_from(&number).ok().filter(|_| number.bits() <= u64::from(width)) {
        Some(bits) => Ok(bits),
        None => input(format!("Integer cannot fit within {width} bits")),
    }
}

fn boolean(text: &str) -> Outcome<bool> {
    match text {
        "true" | "True" => Ok(true),
        "false" | "False" => Ok(false),
        _ => match number(text) {
            Some(number) => Ok(number.bits() != 0),
            None => input("Invalid bool parameter"),
        },
    }
}

/// Polynomial, first remainder and final value; whether data and remainder are reflected.
fn parameters(session: &Session, arguments: &[&str], width: u32) -> Outcome<([u32; 3], [bool; 2])> {
    exactly(arguments, 6)?;
    if !session.config.custom_crcs.iter().any(|crc| crc.name == arguments[0] && crc.width == width) {
        return input(format!("Invalid crc{width}_custom name ({})", arguments[0]));
    }
    let numbers = [bits(arguments[1], width)?, bits(arguments[2], width)?, bits(arguments[3], width)?];
    Ok((numbers, [boolean(arguments[4])?, boolean(arguments[5])?]))
}

pub fn set_crc16(session: &mut Session, arguments: &[&str]) -> Outcome {
    let (numbers, [data_reflected, remainder_reflected]) = parameters(session, arguments, 16)?;
    // Thrift has no unsigned numbers: the bits are the same.
    let [polynomial, initial_remainder, final_xor_value] = numbers.map(|number| number as i16);
    let config = Crc16Config { polynomial, initial_remainder, final_xor_value, data_reflected, remainder_reflected };
    session.standard().bm_set_crc16_custom_parameters(0, arguments[0].to_string(), config)?;
    Ok(())
}

pub fn set_crc32(session: &mut Session, arguments: &[&str]) -> Outcome {
    let (numbers, [data_reflected, remainder_reflected]) = parameters(session, arguments, 32)?;
    let [polynomial, initial_remainder, final_xor_value] = numbers.map(|number| number as i32);
    let config = Crc32Config { polynomial, initial_remainder, final_xor_value, data_reflected, remainder_reflected };
    session.standard().bm_set_crc32_custom_parameters(0, arguments[0].to_string(), config)?;
    Ok(())
}

/// The bytes of hexadecimal digits.
fn digits(text: &str) -> Option<Vec<u8>> {
    let pairs = text.is_ascii() && text.len().is_multiple_of(2);
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).ok();
    if pairs { (0..text.len()).step_by(2).map(byte).collect() } else { None }
}

pub fn set_toeplitz_key(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let Some(key) = digits(arguments[1]) else { return input("Toeplitz hash key must be a hex string") };
    if !key.len().is_multiple_of(4) {
        return input("Toeplitz hash key must be a multiple of 4 bytes in length");
    }
    session.standard().bm_set_toeplitz_hash_key(0, arguments[0].to_string(), Binary(key))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_pairs_of_digits() {
        assert_eq!(digits("0aFf"), Some(vec![0x0a, 0xff]));
        assert_eq!(digits(""), Some(vec![]));
        for wrong in ["0", "0g", "é0"] {
            assert_eq!(digits(wrong), None, "{wrong}");
        }
    }
}
