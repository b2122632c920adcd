//! Counters, meters, registers and value sets.

use crate::convert::number;
use crate::device::{Work, find_in};
use crate::service::Fault;
use crate::standard::{CounterCode, CounterValue, MeterCode, MeterRate, RegisterCode, TableCode, ValueSetCode};
use crate::tables::{Answer, code};
use crate::wire::Binary;
use control::plane::{self, Element, EntryKey, MeterRates};
use control::{Rate, Record, Refusal, Update};
use hlir::{CounterId, Match, MatchKind, MeterId, RegisterId, TableId, ValueSetId};
use num_bigint::BigUint;

fn shown(value: plane::CounterValue) -> CounterValue {
    CounterValue { bytes: value.bytes as i64, packets: value.packets as i64 }
}

fn given(value: &CounterValue) -> plane::CounterValue {
    plane::CounterValue { bytes: value.bytes as u64, packets: value.packets as u64 }
}

/// An element of an indirect object; none for an index that it does not have.
fn element(index: i32, size: u64) -> Option<Element> {
    u64::try_from(index).ok().filter(|index| *index < size).map(Element::Index)
}

/// The committed rate, then the peak rate.
fn read_rates(rates: &[MeterRate]) -> Result<MeterRates, MeterCode> {
    let [committed, peak] = rates else { return Err(MeterCode::BadRates) };
    let rate = |of: &MeterRate| Rate::from_micros(of.units_per_micros).ok_or(MeterCode::InvalidRate);
    let burst = |of: &MeterRate| u64::try_from(of.burst_size).map_err(|_| MeterCode::InvalidBurst);
    let (committed, peak) = ((rate(committed)?, burst(committed)?), (rate(peak)?, burst(peak)?));
    MeterRates::new(committed, peak).map_err(|_| MeterCode::InvalidRate)
}

fn write_rates(rates: Option<MeterRates>) -> Vec<MeterRate> {
    let Some(rates) = rates else { return Vec::new() };
    let shown = |rate: Rate, burst: u64| MeterRate {
        units_per_micros: rate.per_micros(),
        burst_size: i32::try_from(burst).unwrap_or(i32::MAX),
    };
    vec![shown(rates.committed_rate, rates.committed_burst), shown(rates.peak_rate, rates.peak_burst)]
}

impl Work<'_> {
    fn direct_counter(&self, table: TableId) -> Answer<CounterId> {
        let mut counters = self.program.counters.iter();
        let found = counters.find(|(_, counter)| counter.table == Some(table)).map(|(id, _)| id);
        Ok(found.ok_or(TableCode::CountersDisabled)?)
    }

    fn direct_meter(&self, table: TableId) -> Answer<MeterId> {
        let mut meters = self.program.meters.iter();
        let found = meters.find(|(_, meter)| meter.table == Some(table)).map(|(id, _)| id);
        Ok(found.ok_or(TableCode::MetersDisabled)?)
    }

    pub fn read_direct_counter(&mut self, table: &str, handle: i32) -> Answer<CounterValue> {
        let table = self.reached(table)?;
        let counter = self.direct_counter(table)?;
        let element = Element::Entry(self.entry_key(table, handle)?);
        let value = self.switch.plane().read_counter(counter, &element);
        Ok(value.map(shown).map_err(|refusal| code(&refusal, TableCode::Error))?)
    }

    pub fn write_direct_counter(&mut self, table: &str, handle: i32, value: &CounterValue) -> Answer<()> {
        let table = self.reached(table)?;
        let counter = self.direct_counter(table)?;
        let element = Element::Entry(self.entry_key(table, handle)?);
        let written = self.switch.plane().write_counter(counter, &element, given(value));
        Ok(written.map_err(|refusal| code(&refusal, TableCode::Error))?)
    }

    pub fn reset_direct_counters(&mut self, table: &str) -> Answer<()> {
        let table = self.reached(table)?;
        let counter = self.direct_counter(table)?;
        let keys: Vec<_> = self.handles(table).iter().map(|(_, key)| key.clone()).collect();
        for element in keys.into_iter().map(Element::Entry).chain([Element::Default(table)]) {
            let written = self.switch.plane().write_counter(counter, &element, plane::CounterValue::default());
            written.map_err(|refusal| code(&refusal, TableCode::Error))?;
        }
        Ok(())
    }

    pub fn set_direct_rates(&mut self, table: &str, handle: i32, rates: &[MeterRate]) -> Answer<()> {
        let table = self.reached(table)?;
        let meter = self.direct_meter(table)?;
        let element = Element::Entry(self.entry_key(table, handle)?);
        let rates = Some(read_rates(rates).map_err(|_| TableCode::InvalidMeterOperation)?);
        let written = self.write(&Update::SetMeter { meter, element, rates });
        Ok(written.map_err(|refusal| code(&refusal, TableCode::InvalidMeterOperation))?)
    }

    pub fn direct_rates(&mut self, table: &str, handle: i32) -> Answer<Vec<MeterRate>> {
        let table = self.reached(table)?;
        let meter = self.direct_meter(table)?;
        let element = Element::Entry(self.entry_key(table, handle)?);
        let rates = self.store().meter_rates(meter, &element);
        Ok(rates.map(write_rates).map_err(|refusal| code(&refusal, TableCode::InvalidMeterOperation))?)
    }

    /// An indirect counter and its size.
    fn counter(&self, name: &str) -> Result<(CounterId, u64), Fault<CounterCode>> {
        let found = find_in(name, &self.program.counters, |counter| counter.name.as_str());
        let counter = found.ok_or(CounterCode::InvalidName)?;
        Ok((counter, self.program.counters[counter].size))
    }

    pub fn read_counter(&mut self, name: &str, index: i32) -> Result<CounterValue, Fault<CounterCode>> {
        let (counter, size) = self.counter(name)?;
        let element = element(index, size).ok_or(CounterCode::InvalidIndex)?;
        let value = self.switch.plane().read_counter(counter, &element);
        Ok(value.map(shown).map_err(|_| CounterCode::Error)?)
    }

    pub fn write_counter(&mut self, name: &str, index: i32, value: &CounterValue) -> Result<(), Fault<CounterCode>> {
        let (counter, size) = self.counter(name)?;
        let element = element(index, size).ok_or(CounterCode::InvalidIndex)?;
        let written = self.switch.plane().write_counter(counter, &element, given(value));
        Ok(written.map_err(|_| CounterCode::Error)?)
    }

    pub fn reset_counter(&mut self, name: &str) -> Result<(), Fault<CounterCode>> {
        let (counter, size) = self.counter(name)?;
        for index in 0..size {
            let written =
                self.switch.plane().write_counter(counter, &Element::Index(index), plane::CounterValue::default());
            written.map_err(|_| CounterCode::Error)?;
        }
        Ok(())
    }

    fn meter(&self, name: &str) -> Result<(MeterId, u64), Fault<MeterCode>> {
        let found = find_in(name, &self.program.meters, |meter| meter.name.as_str());
        let meter = found.ok_or(MeterCode::InvalidName)?;
        Ok((meter, self.program.meters[meter].size))
    }

    /// The element of a meter with an index. That of a direct one is the slot of an entry, the low bits of its handle, as in BMv2
    /// (`MatchUnitAbstract_::get_meter`); a slot without an entry has none.
    fn meter_element(&mut self, name: &str, index: i32) -> Result<(MeterId, Element), Fault<MeterCode>> {
        let (meter, size) = self.meter(name)?;
        let element = match self.program.meters[meter].table {
            Some(table) => self.handles(table).in_slot(index).map(|key| Element::Entry(key.clone())),
            None => element(index, size),
        };
        Ok((meter, element.ok_or(MeterCode::InvalidIndex)?))
    }

    pub fn set_rates(&mut self, name: &str, index: i32, rates: &[MeterRate]) -> Result<(), Fault<MeterCode>> {
        let (meter, element) = self.meter_element(name, index)?;
        let rates = Some(read_rates(rates)?);
        Ok(self.write(&Update::SetMeter { meter, element, rates }).map_err(|_| MeterCode::Error)?)
    }

    /// Of a direct meter, the rates of all entries that there are, and of those that are added later: BMv2 has a meter for each slot of the table.
    pub fn set_all_rates(&mut self, name: &str, rates: &[MeterRate]) -> Result<(), Fault<MeterCode>> {
        let (meter, size) = self.meter(name)?;
        let given = read_rates(rates)?;
        let rates = Some(given);
        let elements: Vec<Element> = match self.program.meters[meter].table {
            Some(table) => self.handles(table).iter().map(|(_, key)| Element::Entry(key.clone())).collect(),
            None => (0..size).map(Element::Index).collect(),
        };
        for element in elements {
            self.write(&Update::SetMeter { meter, element, rates }).map_err(|_| MeterCode::Error)?;
        }
        // Rates that were refused are not those of later entries.
        if self.program.meters[meter].table.is_some() {
            self.set_array_rates(meter, Some(given)).map_err(|_| MeterCode::Error)?;
        }
        Ok(())
    }

    /// The rates of a direct meter's later entries, of whichever controller.
    pub fn set_array_rates(&mut self, meter: MeterId, rates: Option<MeterRates>) -> Result<(), Refusal> {
        match self.store().array_rates(meter) == rates {
            true => Ok(()),
            false => self.write(&Update::Record(Record::ArrayRates { meter, rates })),
        }
    }

    /// The rates of the whole array, for the direct meter of a new entry.
    pub fn give_array_rates(&mut self, key: &EntryKey) -> Result<(), Refusal> {
        let Ok(meter) = self.direct_meter(key.table) else { return Ok(()) };
        let Some(rates) = self.store().array_rates(meter) else { return Ok(()) };
        self.write(&Update::SetMeter { meter, element: Element::Entry(key.clone()), rates: Some(rates) })
    }

    pub fn rates(&mut self, name: &str, index: i32) -> Result<Vec<MeterRate>, Fault<MeterCode>> {
        let (meter, element) = self.meter_element(name, index)?;
        Ok(self.store().meter_rates(meter, &element).map(write_rates).map_err(|_| MeterCode::Error)?)
    }

    fn register(&self, name: &str) -> Result<(RegisterId, u64, u32), Fault<RegisterCode>> {
        let found = find_in(name, &self.program.registers, |register| register.name.as_str());
        let register = found.ok_or(RegisterCode::InvalidName)?;
        let declared = &self.program.registers[register];
        Ok((register, declared.size, declared.width))
    }

    pub fn read_register(&mut self, name: &str, from: i32, to: Option<i32>) -> Result<Vec<i64>, Fault<RegisterCode>> {
        let (register, size, _) = self.register(name)?;
        let range = indices(from, to, size)?;
        let mut values = Vec::new();
        for index in range {
            let value = self.switch.plane().read_register(register, index).map_err(|_| RegisterCode::Error)?;
            // Of wider ones, the low bits, as BMv2's interface has no more.
            values.push(value.iter_u64_digits().next().unwrap_or(0) as i64);
        }
        Ok(values)
    }

    /// Writes the elements from one index to another, which is not written itself; `to` of none is the end of the array.
    pub fn write_register(
        &mut self,
        name: &str,
        (from, to): (i32, Option<i32>),
        value: Option<i64>,
    ) -> Result<(), Fault<RegisterCode>> {
        let (register, size, width) = self.register(name)?;
        let value = match value {
            Some(value) => BigUint::from(value as u64) & ((BigUint::from(1u32) << width) - 1u32),
            None => self.program.registers[register].initial.clone(),
        };
        for index in indices(from, to, size)? {
            let written = self.switch.plane().write_register(register, index, &value);
            written.map_err(|_| RegisterCode::Error)?;
        }
        Ok(())
    }

    fn value_set(&self, name: &str) -> Result<ValueSetId, Fault<ValueSetCode>> {
        let found = find_in(name, &self.program.value_sets, |set| set.name.as_str());
        Ok(found.ok_or(ValueSetCode::InvalidName)?)
    }

    /// Changes the members of a value set.
    pub fn change_value_set(
        &mut self,
        name: &str,
        change: impl FnOnce(&mut Vec<Vec<Match>>, &[(String, u32, MatchKind)]) -> Result<(), ValueSetCode>,
    ) -> Result<(), Fault<ValueSetCode>> {
        let set = self.value_set(name)?;
        let mut members = self.store().value_set(set).to_vec();
        change(&mut members, &self.program.value_sets[set].fields)?;
        Ok(self.write(&Update::SetValueSet { set, members }).map_err(|_| ValueSetCode::Error)?)
    }

    pub fn value_set_members(&mut self, name: &str) -> Result<Vec<Binary>, Fault<ValueSetCode>> {
        let set = self.value_set(name)?;
        let fields = self.program.value_sets[set].fields.clone();
        let members = self.store().value_set(set);
        Ok(members.iter().map(|member| joined(member, &fields)).collect())
    }
}

/// The indices of an array from one to another, all of which it must have.
fn indices(from: i32, to: Option<i32>, size: u64) -> Result<std::ops::Range<u64>, RegisterCode> {
    let number = |given: i32| u64::try_from(given).ok().filter(|index| *index <= size);
    let from = number(from).ok_or(RegisterCode::InvalidIndex)?;
    let to = to.map_or(Some(size), number).filter(|to| *to > from).ok_or(RegisterCode::InvalidIndex)?;
    Ok(from..to)
}

/// A member whose fields follow each other in one number, as BMv2 has it.
pub fn split(value: &Binary, fields: &[(String, u32, MatchKind)]) -> Result<Vec<Match>, ValueSetCode> {
    let mut rest = number(value);
    let mut member: Vec<Match> = Vec::new();
    for (_, width, _) in fields.iter().rev() {
        member.push(Match::Exact(&rest & ((BigUint::from(1u32) << *width) - 1u32)));
        rest >>= *width;
    }
    member.reverse();
    if rest == BigUint::ZERO { Ok(member) } else { Err(ValueSetCode::Error) }
}

fn joined(member: &[Match], fields: &[(String, u32, MatchKind)]) -> Binary {
    let mut whole = BigUint::ZERO;
    let mut bits = 0;
    for (found, (_, width, _)) in member.iter().zip(fields) {
        let value = match found {
            Match::Exact(value) | Match::Lpm { value, .. } | Match::Ternary { value, .. } => value.clone(),
            Match::Range { low, .. } => low.clone(),
            Match::Any => BigUint::ZERO,
        };
        whole = (whole << *width) | value;
        bits += width;
    }
    crate::convert::bytes(&whole, bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_they_are_written() {
        let rates =
            [MeterRate { units_per_micros: 0.5, burst_size: 10 }, MeterRate { units_per_micros: 2.0, burst_size: 20 }];
        let read = read_rates(&rates).expect("the rates are two");
        assert_eq!((read.committed_rate, read.peak_rate), (Rate::of_units(500_000), Rate::of_units(2_000_000)));
        assert_eq!(write_rates(Some(read)), rates);
        assert_eq!(read_rates(&rates[..1]), Err(MeterCode::BadRates));
        let negative = MeterRate { units_per_micros: -1.0, burst_size: 0 };
        assert_eq!(read_rates(&[negative.clone(), negative]), Err(MeterCode::InvalidRate));
        let [committed, peak] = rates;
        assert_eq!(read_rates(&[peak, committed]), Err(MeterCode::InvalidRate));
    }

    #[test]
    fn fields_of_a_value_set_follow_each_other() {
        let fields = [("a".to_string(), 9, MatchKind::Exact), ("b".to_string(), 7, MatchKind::Exact)];
        let value = Binary(vec![0b1000_0000, 0b1000_0011]);
        let member = split(&value, &fields).expect("it fits");
        assert_eq!(member, [Match::Exact(0x101u32.into()), Match::Exact(3u32.into())]);
        assert_eq!(joined(&member, &fields), value);
        assert_eq!(split(&Binary(vec![1, 0, 0]), &fields), Err(ValueSetCode::Error));
    }

    #[test]
    fn indices_end_with_the_array() {
        assert_eq!(indices(0, None, 4), Ok(0..4));
        assert_eq!(indices(1, Some(2), 4), Ok(1..2));
        for (from, to) in [(4, None), (-1, None), (0, Some(5)), (2, Some(2))] {
            assert_eq!(indices(from, to, 4), Err(RegisterCode::InvalidIndex), "{from} {to:?}");
        }
    }
}
