//! The user's miss handler: a shared library with the interface of `runtime/miss_handler.h`.

use crate::pipeline::LoadError;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

/// `struct miss` there.
#[repr(C)]
struct RawMiss {
    table: *const c_char,
    packet: *const u8,
    length: u32,
    context: *mut c_void,
    write: unsafe extern "C" fn(context: *mut c_void, command: *const c_char) -> c_int,
}

/// See the module.
pub struct MissLibrary {
    handler: unsafe extern "C" fn(miss: *const RawMiss),
    _library: Library,
}

/// Executes a line, or refuses it.
type Write<'w> = &'w mut dyn FnMut(&str) -> bool;

impl MissLibrary {
    /// # Errors
    /// The file is no library, or has no `miss_handler`.
    pub fn load(path: &Path) -> Result<MissLibrary, LoadError> {
        let refused = |reason: String| LoadError::new(path, reason);
        // A name alone would be looked for where the system has its libraries.
        let path = path.canonicalize().map_err(|error| refused(error.to_string()))?;
        // SAFETY: the library's initialisers are run; the user vouches for the file.
        let library = unsafe { Library::new(&path) }.map_err(|error| refused(error.to_string()))?;
        // SAFETY: the name is that of the header's function.
        let handler = unsafe { library.get::<unsafe extern "C" fn(*const RawMiss)>(b"miss_handler") };
        let handler = *handler.map_err(|_| refused("it exports no `miss_handler`".into()))?;
        Ok(MissLibrary { handler, _library: library })
    }

    /// Lets the handler answer a packet. `write` is only called meanwhile.
    pub fn missed(&self, table: &str, packet: &[u8], mut write: Write<'_>) {
        let table = CString::new(table).unwrap_or_default();
        let context: *mut Write<'_> = &raw mut write;
        let raw = RawMiss {
            table: table.as_ptr(),
            packet: packet.as_ptr(),
            length: packet.len() as u32,
            context: context.cast(),
            write: forward,
        };
        // SAFETY: all that it points to lives until the handler returns.
        unsafe { (self.handler)(&raw const raw) };
    }
}

unsafe extern "C" fn forward(context: *mut c_void, command: *const c_char) -> c_int {
    // SAFETY: the context is that of `missed`, whose call this is within; a command is a C text.
    let (write, command) = unsafe { (&mut *context.cast::<Write<'_>>(), CStr::from_ptr(command)) };
    c_int::from(!write(&command.to_string_lossy()))
}
