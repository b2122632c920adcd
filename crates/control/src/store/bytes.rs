//! Keys and data of entries: short ones lie within their entry, since millions of small allocations took a third of an insertion's time.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// As many as fit beside a length where a pointer and its length would be.
const SHORT: usize = 22;

/// Bytes that stay as they are.
#[derive(Clone)]
pub struct Bytes(Form);

#[derive(Clone)]
enum Form {
    Short { length: u8, bytes: [u8; SHORT] },
    Long(Box<[u8]>),
}

impl Bytes {
    /// So many zeros, which `fill` overwrites.
    pub fn filled(length: usize, fill: impl FnOnce(&mut [u8])) -> Bytes {
        if length > SHORT {
            let mut bytes = vec![0; length].into_boxed_slice();
            fill(&mut bytes);
            return Bytes(Form::Long(bytes));
        }
        let mut bytes = [0; SHORT];
        fill(&mut bytes[..length]);
        Bytes(Form::Short { length: length as u8, bytes })
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Form::Short { length, bytes } => &bytes[..usize::from(*length)],
            Form::Long(bytes) => bytes,
        }
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Bytes {
        Bytes::filled(bytes.len(), |room| room.copy_from_slice(bytes))
    }
}

impl Borrow<[u8]> for Bytes {
    fn borrow(&self) -> &[u8] {
        self
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Bytes) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

impl PartialOrd for Bytes {
    fn partial_cmp(&self, other: &Bytes) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bytes {
    fn cmp(&self, other: &Bytes) -> Ordering {
        (**self).cmp(other)
    }
}

/// As the slice, by which maps are searched.
impl Hash for Bytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn short_and_long_bytes_are_found_by_their_slice() {
        let all: Vec<u8> = (1..=64).collect();
        let map: HashMap<Bytes, usize> = (0..=all.len()).map(|length| (Bytes::from(&all[..length]), length)).collect();
        assert_eq!(map.len(), all.len() + 1);
        assert!((0..=all.len()).all(|length| map.get(&all[..length]) == Some(&length)));
        assert_ne!(Bytes::from(&[1, 0][..]), Bytes::from(&[1][..]));
        assert_eq!(size_of::<Bytes>(), 24);
    }
}
