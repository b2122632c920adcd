//! Packets between switch and controller: the header in front of a frame, and the metadata that it is in the protocol.

use crate::failure::{Failure, Outcome};
use crate::schema::{HeaderSchema, Schema};
use crate::value::ones;
use control::message::runtime::{PacketIn, PacketMetadata, PacketOut};
use num_bigint::BigUint;

/// The message for a frame that left by the CPU port; none for one that is shorter than its header.
pub fn packet_in(schema: &Schema, frame: Vec<u8>) -> Option<PacketIn> {
    let Some(header) = &schema.packet_in else { return Some(PacketIn { payload: frame, metadata: Vec::new() }) };
    let length = header.bits().div_ceil(8) as usize;
    if frame.len() < length {
        return None;
    }
    let bits = BigUint::from_bytes_be(&frame[..length]);
    let mut shift = length as u32 * 8;
    let metadata = header.fields.iter().map(|field| {
        shift -= field.width;
        let value = (&bits >> shift) & ones(field.width);
        PacketMetadata { metadata_id: field.id, value: schema.dictionaries.write(&value, &field.reading) }
    });
    Some(PacketIn { metadata: metadata.collect(), payload: frame[length..].to_vec() })
}

/// The frame for the CPU port.
pub fn packet_out(schema: &Schema, packet: &PacketOut) -> Outcome<Vec<u8>> {
    let Some(header) = &schema.packet_out else {
        return match packet.metadata.is_empty() {
            true => Ok(packet.payload.clone()),
            false => Err(Failure::invalid("the program has no header `packet_out`, so packets have no metadata")),
        };
    };
    let mut frame = header_bytes(schema, header, &packet.metadata)?;
    frame.extend_from_slice(&packet.payload);
    Ok(frame)
}

fn header_bytes(schema: &Schema, header: &HeaderSchema, metadata: &[PacketMetadata]) -> Outcome<Vec<u8>> {
    if let Some(unknown) = metadata.iter().find(|given| header.fields.iter().all(|field| field.id != given.metadata_id))
    {
        return Err(Failure::invalid(format!("there is no metadata field with id {}", unknown.metadata_id)));
    }
    let mut bits = BigUint::ZERO;
    for (field, padding) in header.fields.iter().zip(&header.padding) {
        let mut given = metadata.iter().filter(|given| given.metadata_id == field.id);
        let value = match (given.next(), given.next()) {
            (Some(given), None) => field.read(&given.value, &schema.dictionaries)?,
            (None, _) if *padding => BigUint::ZERO,
            (None, _) => return Err(Failure::invalid(format!("metadata field `{}` is left out", field.name))),
            (Some(_), Some(_)) => {
                return Err(Failure::invalid(format!("metadata field `{}` is given twice", field.name)));
            }
        };
        bits = (bits << field.width) | value;
    }
    let length = header.bits().div_ceil(8) as usize;
    let digits = (bits << (length as u32 * 8 - header.bits())).to_bytes_be();
    let mut bytes = vec![0; length.saturating_sub(digits.len())];
    bytes.extend(digits);
    bytes.truncate(length);
    Ok(bytes)
}
