//! Counters, meters, registers and value sets.

use crate::problem::{Outcome, input};
use crate::session::{Session, at_least, exactly, say};
use crate::values::{hexadecimal, integer, set_member};
use bm_runtime::standard::{CounterValue, MeterRate};

const NO_INDEX: &str = "Bad format for index";

pub fn counter_read(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let counter = session.config.counter(arguments[0])?.clone();
    let index = integer(arguments[1], NO_INDEX)?;
    let value = match counter.table {
        Some(table) => {
            say!(session, "this is the direct counter for table {table}");
            session.standard().bm_mt_read_counter(0, table, index)?
        }
        None => session.standard().bm_counter_read(0, counter.name, index)?,
    };
    say!(session, "{}[{index}]= ({} bytes, {} packets)", arguments[0], value.bytes, value.packets);
    Ok(())
}

pub fn counter_write(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 4)?;
    let counter = session.config.counter(arguments[0])?.clone();
    let index = integer(arguments[1], NO_INDEX)?;
    let packets = arguments[2].parse().or_else(|_| input("Bad format for packets"))?;
    let bytes = arguments[3].parse().or_else(|_| input("Bad format for bytes"))?;
    let value = CounterValue { bytes, packets };
    match counter.table {
        Some(table) => {
            say!(session, "writing to direct counter for table {table}");
            session.standard().bm_mt_write_counter(0, table, index, value)?;
        }
        None => session.standard().bm_counter_write(0, counter.name, index, value)?,
    }
    say!(session, "{}[{index}] has been updated", arguments[0]);
    Ok(())
}

pub fn counter_reset(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let counter = session.config.counter(arguments[0])?.clone();
    match counter.table {
        Some(table) => {
            say!(session, "this is the direct counter for table {table}");
            session.standard().bm_mt_reset_counters(0, table)?;
        }
        None => session.standard().bm_counter_reset_all(0, counter.name)?,
    }
    Ok(())
}

fn rates(given: &[&str], count: usize) -> Outcome<Vec<MeterRate>> {
    if given.len() != count {
        return input(format!("Invalid number of rates, expected {count} but got {}", given.len()));
    }
    let rate = |text: &&str| {
        let (rate, burst) = text.split_once(':')?;
        Some(MeterRate { units_per_micros: rate.parse().ok()?, burst_size: burst.parse().ok()? })
    };
    given.iter().map(rate).collect::<Option<_>>().map_or_else(|| input("Error while parsing rates"), Ok)
}

/// As Python writes a number: in an exponent, a sign and two digits at least.
fn float(number: f64) -> String {
    let text = format!("{number:?}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    match exponent.strip_prefix('-') {
        Some(exponent) => format!("{digits}e-{exponent:0>2}"),
        None => format!("{digits}e+{exponent:0>2}"),
    }
}

pub fn meter_array_set_rates(session: &mut Session, arguments: &[&str]) -> Outcome {
    at_least(arguments, 1)?;
    let meter = session.config.meter(arguments[0])?.clone();
    let rates = rates(&arguments[1..], meter.rate_count)?;
    session.standard().bm_meter_array_set_rates(0, meter.name, rates)?;
    Ok(())
}

pub fn meter_set_rates(session: &mut Session, arguments: &[&str]) -> Outcome {
    at_least(arguments, 2)?;
    let meter = session.config.meter(arguments[0])?.clone();
    let index = integer(arguments[1], NO_INDEX)?;
    let rates = rates(&arguments[2..], meter.rate_count)?;
    match meter.table {
        Some(table) => session.standard().bm_mt_set_meter_rates(0, table, index, rates)?,
        None => session.standard().bm_meter_set_rates(0, meter.name, index, rates)?,
    }
    Ok(())
}

pub fn meter_get_rates(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let meter = session.config.meter(arguments[0])?.clone();
    let index = integer(arguments[1], NO_INDEX)?;
    let rates = match meter.table {
        Some(table) => session.standard().bm_mt_get_meter_rates(0, table, index)?,
        None => session.standard().bm_meter_get_rates(0, meter.name, index)?,
    };
    if rates.len() != meter.rate_count {
        say!(session, "WARNING: expected {} rates but only received {}", meter.rate_count, rates.len());
    }
    for (at, rate) in rates.iter().enumerate() {
        say!(session, "{at}: info rate = {}, burst size = {}", float(rate.units_per_micros), rate.burst_size);
    }
    Ok(())
}

pub fn register_read(session: &mut Session, arguments: &[&str]) -> Outcome {
    at_least(arguments, 1)?;
    let register = session.config.register(arguments[0])?.name.clone();
    if arguments.len() > 1 {
        exactly(arguments, 2)?;
        let index = integer(arguments[1], NO_INDEX)?;
        let value = session.standard().bm_register_read(0, register, index)?;
        say!(session, "{}[{index}]= {value}", arguments[0]);
        return Ok(());
    }
    // Scripts read standard output.
    eprintln!("register index omitted, reading entire array");
    let values = session.standard().bm_register_read_all(0, register)?;
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    say!(session, "{}= {}", arguments[0], values.join(", "));
    Ok(())
}

pub fn register_write(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 3)?;
    let register = session.config.register(arguments[0])?.name.clone();
    let index = integer(arguments[1], NO_INDEX)?;
    let value = arguments[2].parse().or_else(|_| input("Bad format for value, must be an integer"))?;
    session.standard().bm_register_write(0, register, index, value)?;
    Ok(())
}

pub fn register_reset(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let register = session.config.register(arguments[0])?.name.clone();
    session.standard().bm_register_reset(0, register)?;
    Ok(())
}

pub fn show_value_sets(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 0)?;
    let mut sets = session.config.value_sets.clone();
    sets.sort_by(|a, b| a.name.cmp(&b.name));
    for set in sets {
        say!(session, "{:30} [compressed bitwidth:{}]", set.name, set.width);
    }
    Ok(())
}

pub fn value_set_add(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let set = session.config.value_set(arguments[0])?.clone();
    let value = set_member(arguments[1], set.width)?;
    session.standard().bm_parse_vset_add(0, set.name, value)?;
    Ok(())
}

pub fn value_set_remove(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let set = session.config.value_set(arguments[0])?.clone();
    let value = set_member(arguments[1], set.width)?;
    session.standard().bm_parse_vset_remove(0, set.name, value)?;
    Ok(())
}

pub fn value_set_get(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let set = session.config.value_set(arguments[0])?.name.clone();
    for value in session.standard().bm_parse_vset_get(0, set)? {
        say!(session, "{}", hexadecimal(&value));
    }
    Ok(())
}

pub fn value_set_clear(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let set = session.config.value_set(arguments[0])?.name.clone();
    session.standard().bm_parse_vset_clear(0, set)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::float;

    #[test]
    fn numbers_are_written_as_python_writes_them() {
        for (number, written) in [(0.5, "0.5"), (1.0, "1.0"), (1e-4, "0.0001"), (1e-5, "1e-05"), (5e-7, "5e-07")] {
            assert_eq!(float(number), written);
        }
        for (number, written) in
            [(1.25e-15, "1.25e-15"), (123_456.0, "123456.0"), (1e16, "1e+16"), (1.5e100, "1.5e+100")]
        {
            assert_eq!(float(number), written);
        }
    }
}
