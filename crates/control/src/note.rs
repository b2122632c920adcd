//! What a controller attaches to an entry for itself: metadata, and the number that older versions of the protocol have in its place.

/// Both as the store keeps them: a byte marks whether the number precedes the metadata.
pub fn pack(number: u64, metadata: &[u8]) -> Vec<u8> {
    match (number, metadata) {
        (0, []) => Vec::new(),
        (0, _) => [&[0], metadata].concat(),
        _ => [&[1], &number.to_be_bytes()[..], metadata].concat(),
    }
}

pub fn unpack(note: &[u8]) -> (u64, Vec<u8>) {
    match note.split_first() {
        Some((1, rest)) if rest.len() >= 8 => {
            let (number, metadata) = rest.split_at(8);
            (number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)), metadata.to_vec())
        }
        Some((_, metadata)) => (0, metadata.to_vec()),
        None => (0, Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_attached_comes_back() {
        for (number, metadata) in [(0, &[][..]), (0, &[1, 2]), (7, &[]), (u64::MAX, &[0, 1])] {
            assert_eq!(unpack(&pack(number, metadata)), (number, metadata.to_vec()));
        }
        assert!(pack(0, &[]).is_empty());
    }
}
