//! The client's side of a connection.

use crate::service::{CallError, read_reply};
use crate::wire::{Wire, write_struct};
use std::io::{BufReader, Write as _};
use std::net::TcpStream;
use thrift::Result;
use thrift::protocol::{
    TBinaryInputProtocol, TBinaryOutputProtocol, TMessageIdentifier, TMessageType, TOutputProtocol,
};

/// A connection to the Thrift server of a switch.
pub struct Connection {
    reader: BufReader<TcpStream>,
    sequence_number: i32,
}

impl Connection {
    /// # Errors
    /// No server listens there.
    pub fn open(host: &str, port: u16) -> std::io::Result<Connection> {
        let stream = TcpStream::connect((host, port))?;
        stream.set_nodelay(true)?;
        Ok(Connection { reader: BufReader::new(stream), sequence_number: 0 })
    }

    /// Calls a method, whose arguments `fields` writes.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn call<T: Wire, E: Wire>(
        &mut self,
        service: &str,
        method: &str,
        fields: &dyn Fn(&mut dyn TOutputProtocol) -> Result<()>,
    ) -> std::result::Result<T, CallError<E>> {
        self.sequence_number = self.sequence_number.wrapping_add(1);
        let mut request = Vec::new();
        {
            let mut to = TBinaryOutputProtocol::new(&mut request, true);
            let name = format!("{service}:{method}");
            to.write_message_begin(&TMessageIdentifier::new(name, TMessageType::Call, self.sequence_number))?;
            write_struct(&mut to, "arguments", fields)?;
            to.write_message_end()?;
        }
        self.reader.get_mut().write_all(&request).map_err(thrift::Error::from)?;
        let mut from = TBinaryInputProtocol::new(&mut self.reader, true);
        read_reply(&mut from)
    }
}
