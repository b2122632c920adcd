//! How values are in a Thrift message, for the types that BMv2's services use.

use std::collections::BTreeMap;
use thrift::protocol::{
    TFieldIdentifier, TInputProtocol, TListIdentifier, TMapIdentifier, TOutputProtocol, TStructIdentifier, TType,
};
use thrift::{ProtocolErrorKind, Result};

/// A value in a message.
pub trait Wire: Sized {
    const TYPE: TType;

    /// # Errors
    /// The connection, or bytes that are no such value.
    fn read(from: &mut dyn TInputProtocol) -> Result<Self>;

    /// # Errors
    /// The connection.
    fn write(&self, to: &mut dyn TOutputProtocol) -> Result<()>;

    /// The value as a field of a struct. Optional fields without a value are left out.
    ///
    /// # Errors
    /// The connection.
    fn write_field(&self, to: &mut dyn TOutputProtocol, id: i16, name: &str) -> Result<()> {
        to.write_field_begin(&TFieldIdentifier::new(name, Self::TYPE, id))?;
        self.write(to)?;
        to.write_field_end()
    }
}

/// Bytes that are no text.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Binary(pub Vec<u8>);

macro_rules! number {
    ($($kind:ty: $type:ident, $read:ident, $write:ident;)*) => {
        $(impl Wire for $kind {
            const TYPE: TType = TType::$type;

            fn read(from: &mut dyn TInputProtocol) -> Result<Self> {
                from.$read()
            }

            fn write(&self, to: &mut dyn TOutputProtocol) -> Result<()> {
                to.$write(*self)
            }
        })*
    };
}

number! {
    bool: Bool, read_bool, write_bool;
    i16: I16, read_i16, write_i16;
    i32: I32, read_i32, write_i32;
    i64: I64, read_i64, write_i64;
    f64: Double, read_double, write_double;
}

impl Wire for Binary {
    const TYPE: TType = TType::String;

    fn read(from: &mut dyn TInputProtocol) -> Result<Self> {
        from.read_bytes().map(Binary)
    }

    fn write(&self, to: &mut dyn TOutputProtocol) -> Result<()> {
        to.write_bytes(&self.0)
    }
}

impl Wire for String {
    const TYPE: TType = TType::String;

    fn read(from: &mut dyn TInputProtocol) -> Result<Self> {
        from.read_string()
    }

    fn write(&self, to: &mut dyn TOutputProtocol) -> Result<()> {
        to.write_string(self)
    }
}

/// The answer of methods without a result.
impl Wire for () {
    const TYPE: TType = TType::Void;

    fn read(_: &mut dyn TInputProtocol) -> Result<Self> {
        Ok(())
    }

    fn write(&self, _: &mut dyn TOutputProtocol) -> Result<()> {
        Ok(())
    }

    fn write_field(&self, _: &mut dyn TOutputProtocol, _: i16, _: &str) -> Result<()> {
        Ok(())
    }
}

impl<T: Wire> Wire for Option<T> {
    const TYPE: TType = T::TYPE;

    fn read(from: &mut dyn TInputProtocol) -> Result<Self> {
        T::read(from).map(Some)
    }

    fn write(&self, to: &mut dyn TOutputProtocol) -> Result<()> {
        self.as_ref().map_or(Ok(()), |value| value.write(to))
    }

    fn write_field(&self, to: &mut dyn TOutputProtocol, id: i16, name: &str) -> Result<()> {
        self.as_ref().map_or(Ok(()), |value| value.write_field(to, id, name))
    }
}

impl<T: Wire> Wire for Vec<T> {
    const TYPE: TType = TType::List;

    fn read(from: &mut dyn TInputProtocol) -> Result<Self> {
        let list = from.read_list_begin()?;
        check_type(T::TYPE, list.element_type, list.size)?;
        // No room is reserved by what the client announces.
        let mut values = Vec::new();
        for _ in 0..list.size {
            values.push(T::read(from)?);
        }
        from.read_list_end()?;
        Ok(values)
    }

    fn write(&self, to: &mut dyn TOutputProtocol) -> Result<()> {
        to.write_list_begin(&TListIdentifier::new(T::TYPE, size(self.len())?))?;
        self.iter().try_for_each(|value| value.write(to))?;
        to.write_list_end()
    }
}

impl Wire for BTreeMap<String, String> {
    const TYPE: TType = TType::Map;

    fn read(from: &mut dyn TInputProtocol) -> Result<Self> {
        let map = from.read_map_begin()?;
        check_type(TType::String, map.key_type.unwrap_or(TType::String), map.size)?;
        check_type(TType::String, map.value_type.unwrap_or(TType::String), map.size)?;
        let mut values = BTreeMap::new();
        for _ in 0..map.size {
            values.insert(from.read_string()?, from.read_string()?);
        }
        from.read_map_end()?;
        Ok(values)
    }

    fn write(&self, to: &mut dyn TOutputProtocol) -> Result<()> {
        to.write_map_begin(&TMapIdentifier::new(TType::String, TType::String, size(self.len())?))?;
        for (key, value) in self {
            to.write_string(key)?;
            to.write_string(value)?;
        }
        to.write_map_end()
    }
}

fn size(length: usize) -> Result<i32> {
    i32::try_from(length)
        .map_err(|_| thrift::new_protocol_error(ProtocolErrorKind::SizeLimit, "a list has too many elements"))
}

/// An empty list or map may have any type.
fn check_type(expected: TType, found: TType, size: i32) -> Result<()> {
    if size == 0 || expected == found {
        return Ok(());
    }
    let message = format!("expected elements of type {expected}, found {found}");
    Err(thrift::new_protocol_error(ProtocolErrorKind::InvalidData, message))
}

/// Reads the fields of a struct: each goes to `field`, which is false for those that it does not know. These are skipped.
///
/// # Errors
/// The connection, or bytes that are no struct.
pub fn read_fields(
    from: &mut dyn TInputProtocol,
    field: &mut dyn FnMut(i16, TType, &mut dyn TInputProtocol) -> Result<bool>,
) -> Result<()> {
    from.read_struct_begin()?;
    loop {
        let found = from.read_field_begin()?;
        if found.field_type == TType::Stop {
            return from.read_struct_end();
        }
        if !field(found.id.unwrap_or(0), found.field_type, from)? {
            from.skip(found.field_type)?;
        }
        from.read_field_end()?;
    }
}

/// Writes a struct, whose fields `fields` writes.
///
/// # Errors
/// The connection.
pub fn write_struct(
    to: &mut dyn TOutputProtocol,
    name: &str,
    fields: impl FnOnce(&mut dyn TOutputProtocol) -> Result<()>,
) -> Result<()> {
    to.write_struct_begin(&TStructIdentifier::new(name))?;
    fields(to)?;
    to.write_field_stop()?;
    to.write_struct_end()
}

/// A struct of BMv2's interface: `id field: type` for each field.
macro_rules! message {
    ($(#[$note:meta])* $name:ident { $($id:literal $field:ident: $kind:ty,)* }) => {
        $(#[$note])*
        #[derive(Clone, Debug, PartialEq, Default)]
        pub struct $name {
            $(pub $field: $kind,)*
        }

        impl $crate::wire::Wire for $name {
            const TYPE: thrift::protocol::TType = thrift::protocol::TType::Struct;

            fn read(from: &mut dyn thrift::protocol::TInputProtocol) -> thrift::Result<Self> {
                let mut read = $name::default();
                $crate::wire::read_fields(from, &mut |id, kind, from| {
                    $(if id == $id && kind == <$kind as $crate::wire::Wire>::TYPE {
                        read.$field = $crate::wire::Wire::read(from)?;
                        return Ok(true);
                    })*
                    Ok(false)
                })?;
                Ok(read)
            }

            fn write(&self, to: &mut dyn thrift::protocol::TOutputProtocol) -> thrift::Result<()> {
                $crate::wire::write_struct(to, stringify!($name), |to| {
                    $($crate::wire::Wire::write_field(&self.$field, to, $id, stringify!($field))?;)*
                    Ok(())
                })
            }
        }
    };
}

/// An enumeration of BMv2's interface, whose numbers are `i32`. The first is the default.
macro_rules! codes {
    ($(#[$note:meta])* $name:ident { $first:ident = $first_number:literal $first_text:literal,
        $($code:ident = $number:literal $text:literal,)* }) => {
        $(#[$note])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub enum $name {
            #[default]
            $first,
            $($code,)*
        }

        impl $name {
            /// As BMv2 calls it.
            pub fn name(self) -> &'static str {
                match self {
                    $name::$first => $first_text,
                    $($name::$code => $text,)*
                }
            }
        }

        impl $crate::wire::Wire for $name {
            const TYPE: thrift::protocol::TType = thrift::protocol::TType::I32;

            fn read(from: &mut dyn thrift::protocol::TInputProtocol) -> thrift::Result<Self> {
                match from.read_i32()? {
                    $first_number => Ok($name::$first),
                    $($number => Ok($name::$code),)*
                    other => {
                        let message = format!("{} has no number {other}", stringify!($name));
                        Err(thrift::new_protocol_error(thrift::ProtocolErrorKind::InvalidData, message))
                    }
                }
            }

            fn write(&self, to: &mut dyn thrift::protocol::TOutputProtocol) -> thrift::Result<()> {
                to.write_i32(match self {
                    $name::$first => $first_number,
                    $($name::$code => $number,)*
                })
            }
        }
    };
}

pub(crate) use {codes, message};
