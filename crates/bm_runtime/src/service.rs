//! Services: methods by name, their arguments and answers in messages, and both ends of a call.

use crate::wire::{Wire, read_fields, write_struct};
use std::fmt;
use thrift::protocol::{TInputProtocol, TMessageIdentifier, TMessageType, TOutputProtocol, TType};
use thrift::{ApplicationError, ApplicationErrorKind, Result};

/// Why a method has no answer: a code of its service, or a sentence where the service has no code for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault<E> {
    Code(E),
    Sentence(String),
}

impl<E> From<E> for Fault<E> {
    fn from(code: E) -> Fault<E> {
        Fault::Code(code)
    }
}

/// The error of methods that declare none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Undeclared;

impl Wire for Undeclared {
    const TYPE: TType = TType::Void;

    fn read(_: &mut dyn TInputProtocol) -> Result<Self> {
        Ok(Undeclared)
    }

    fn write(&self, _: &mut dyn TOutputProtocol) -> Result<()> {
        Ok(())
    }
}

/// Why a call has no answer for the client.
#[derive(Debug)]
pub enum CallError<E> {
    /// The code that the service has for it.
    Code(E),
    /// The server has not answered, or with a sentence.
    Thrift(thrift::Error),
}

impl<E> From<thrift::Error> for CallError<E> {
    fn from(error: thrift::Error) -> CallError<E> {
        CallError::Thrift(error)
    }
}

impl<E: fmt::Debug> fmt::Display for CallError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Code(code) => write!(f, "{code:?}"),
            CallError::Thrift(thrift::Error::Application(error)) => f.write_str(&error.message),
            CallError::Thrift(error) => write!(f, "{error}"),
        }
    }
}

/// Writes the answer of a method: its result, or the exception with the code.
///
/// # Errors
/// The connection.
pub fn write_reply<T: Wire, E: Wire>(
    to: &mut dyn TOutputProtocol,
    message: &TMessageIdentifier,
    answer: std::result::Result<T, Fault<E>>,
) -> Result<()> {
    let answer = match answer {
        Err(Fault::Sentence(sentence)) => return write_failure(to, message, internal(sentence)),
        Err(Fault::Code(code)) => Err(code),
        Ok(value) => Ok(value),
    };
    let kind = TMessageType::Reply;
    to.write_message_begin(&TMessageIdentifier::new(message.name.clone(), kind, message.sequence_number))?;
    write_struct(to, "result", |to| match &answer {
        Ok(value) => value.write_field(to, 0, "success"),
        Err(code) => Exception(code).write_field(to, 1, "ouch"),
    })?;
    to.write_message_end()?;
    to.flush()
}

fn internal(sentence: String) -> ApplicationError {
    ApplicationError::new(ApplicationErrorKind::InternalError, sentence)
}

/// All exceptions of BMv2's services are structs with a code.
struct Exception<'c, E>(&'c E);

impl<E: Wire> Wire for Exception<'_, E> {
    const TYPE: TType = TType::Struct;

    fn read(_: &mut dyn TInputProtocol) -> Result<Self> {
        Err(thrift::new_application_error(ApplicationErrorKind::InternalError, "exceptions are read by their code"))
    }

    fn write(&self, to: &mut dyn TOutputProtocol) -> Result<()> {
        write_struct(to, "exception", |to| self.0.write_field(to, 1, "code"))
    }
}

/// Answers that a call could not be made at all.
///
/// # Errors
/// The connection.
pub fn write_failure(
    to: &mut dyn TOutputProtocol,
    message: &TMessageIdentifier,
    error: ApplicationError,
) -> Result<()> {
    let kind = TMessageType::Exception;
    to.write_message_begin(&TMessageIdentifier::new(message.name.clone(), kind, message.sequence_number))?;
    thrift::Error::write_application_error_to_out_protocol(&error, to)?;
    to.write_message_end()?;
    to.flush()
}

/// Reads the answer to a call.
///
/// # Errors
/// The code of the exception, the server's failure, or the connection.
pub fn read_reply<T: Wire, E: Wire>(from: &mut dyn TInputProtocol) -> std::result::Result<T, CallError<E>> {
    let message = from.read_message_begin()?;
    if message.message_type == TMessageType::Exception {
        let error = thrift::Error::read_application_error_from_in_protocol(from)?;
        from.read_message_end()?;
        return Err(CallError::Thrift(thrift::Error::Application(error)));
    }
    let (mut success, mut code) = (None, None);
    read_fields(from, &mut |id, kind, from| match id {
        0 if kind == T::TYPE => {
            success = Some(T::read(from)?);
            Ok(true)
        }
        1 if kind == TType::Struct => {
            code = Some(read_exception(from)?);
            Ok(true)
        }
        _ => Ok(false),
    })?;
    from.read_message_end()?;
    match (success, code.flatten()) {
        (_, Some(code)) => Err(CallError::Code(code)),
        (Some(value), None) => Ok(value),
        // Methods without a result answer nothing.
        (None, None) if T::TYPE == TType::Void => Ok(T::read(from)?),
        (None, None) => {
            let error = ApplicationError::new(ApplicationErrorKind::MissingResult, "the answer has no result");
            Err(CallError::Thrift(thrift::Error::Application(error)))
        }
    }
}

fn read_exception<E: Wire>(from: &mut dyn TInputProtocol) -> Result<Option<E>> {
    let mut code = None;
    read_fields(from, &mut |id, kind, from| {
        if id == 1 && kind == E::TYPE {
            code = Some(E::read(from)?);
            return Ok(true);
        }
        Ok(false)
    })?;
    Ok(code)
}

/// A service: a trait for its handler, the handling of its messages, and its client.
macro_rules! service {
    ($(#[$note:meta])* $name:ident, $client:ident, $wire_name:literal, {
        $($method:ident($($id:literal $argument:ident: $kind:ty),*) -> $answer:ty, $error:ty;)*
    }) => {
        $(#[$note])*
        pub trait $name {
            $(fn $method(&self, $($argument: $kind),*) -> std::result::Result<$answer, $crate::service::Fault<$error>>;)*
        }

        impl dyn $name + '_ {
            /// As the multiplexed protocol has it before the names of methods.
            pub const NAME: &'static str = $wire_name;

            /// Reads the arguments of a call and writes the answer. False for a method that there is not: nothing is read then.
            ///
            /// # Errors
            /// The connection, or bytes that are no such arguments.
            pub fn handle(
                &self,
                message: &thrift::protocol::TMessageIdentifier,
                from: &mut dyn thrift::protocol::TInputProtocol,
                to: &mut dyn thrift::protocol::TOutputProtocol,
            ) -> thrift::Result<bool> {
                match message.name.as_str() {
                    $(stringify!($method) => {
                        $(let mut $argument = <$kind as Default>::default();)*
                        #[allow(unused_variables)]
                        $crate::wire::read_fields(from, &mut |id, kind, from| {
                            $(if id == $id && kind == <$kind as $crate::wire::Wire>::TYPE {
                                $argument = $crate::wire::Wire::read(from)?;
                                return Ok(true);
                            })*
                            Ok(false)
                        })?;
                        from.read_message_end()?;
                        $crate::service::write_reply::<$answer, $error>(to, message, self.$method($($argument),*))?;
                        Ok(true)
                    })*
                    _ => Ok(false),
                }
            }
        }

        /// The service as a client calls it.
        pub struct $client<'c>(pub &'c mut $crate::client::Connection);

        impl $client<'_> {
            $(
                /// # Errors
                /// See [`crate::CallError`].
                pub fn $method(&mut self, $($argument: $kind),*) -> std::result::Result<$answer, $crate::CallError<$error>> {
                    self.0.call::<$answer, $error>($wire_name, stringify!($method), &|to: &mut dyn thrift::protocol::TOutputProtocol| {
                        $($crate::wire::Wire::write_field(&$argument, to, $id, stringify!($argument))?;)*
                        #[allow(clippy::let_unit_value)]
                        let _ = to;
                        Ok(())
                    })
                }
            )*
        }
    };
}

pub(crate) use service;
