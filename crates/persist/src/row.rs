//! How a row is stored: its value behind a checksum of key and value.

use redb::TableDefinition;

pub const TABLE: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("rows");

const SUM: usize = 4;

fn sum(key: &[u8], value: &[u8]) -> [u8; SUM] {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&(key.len() as u64).to_le_bytes());
    hasher.update(key);
    hasher.update(value);
    hasher.finalize().to_le_bytes()
}

pub fn sealed(key: &[u8], value: &[u8]) -> Vec<u8> {
    [&sum(key, value)[..], value].concat()
}

/// The value; none if it is not what was stored for this key.
pub fn opened<'v>(key: &[u8], stored: &'v [u8]) -> Option<&'v [u8]> {
    let (found, value) = stored.split_first_chunk::<SUM>()?;
    (*found == sum(key, value)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_byte_is_found() {
        let stored = sealed(b"key", b"value");
        assert_eq!(opened(b"key", &stored), Some(&b"value"[..]));
        assert_eq!(opened(b"kez", &stored), None);
        for at in 0..stored.len() {
            let mut changed = stored.clone();
            changed[at] ^= 0x10;
            assert_eq!(opened(b"key", &changed), None, "byte {at}");
        }
        assert_eq!(opened(b"key", &stored[..3]), None);
    }
}
