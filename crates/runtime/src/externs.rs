//! The user's C code for custom externs, as the interpreter calls it: a library whose functions take their arguments from an array.

use crate::pipeline::{LoadError, load_whole};
use libloading::Library;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;

/// `struct extern_payload` of runtime/extern/payload.h.
#[repr(C)]
struct RawPayload {
    data: *mut u8,
    length: u32,
    room: u32,
}

/// `EXTERN_GROWTH` there.
const GROWTH: usize = 256;

type Call = unsafe extern "C" fn(object: *mut c_void, payload: *mut RawPayload, limbs: *mut u64);

#[repr(C)]
struct RawFunction {
    name: *const c_char,
    call: Call,
}

#[repr(C)]
struct RawObject {
    name: *const c_char,
    create: unsafe extern "C" fn() -> *mut c_void,
    destroy: unsafe extern "C" fn(object: *mut c_void),
}

#[repr(C)]
struct RawLibrary {
    function_count: u32,
    object_count: u32,
    functions: *const RawFunction,
    objects: *const RawObject,
}

/// The loaded library with its objects.
pub struct ExternLibrary {
    raw: *const RawLibrary,
    functions: HashMap<String, Call>,
    objects: Vec<*mut c_void>,
    _library: Library,
}

impl ExternLibrary {
    /// Loads what this program has compiled, and makes all objects.
    pub fn load(path: &Path) -> Result<ExternLibrary, LoadError> {
        let refused = |reason: String| LoadError::new(path, reason);
        let library = load_whole(path)?;
        // SAFETY: the name is that of a `struct extern_library`.
        let raw = unsafe { library.get::<*const RawLibrary>(b"bacus_externs") };
        let raw: *const RawLibrary = *raw.map_err(|_| refused("it exports no `bacus_externs`".into()))?;
        // SAFETY: the array has as many elements as the library declares, and lives as long as it.
        let functions = unsafe { array((*raw).functions, (*raw).function_count) };
        // SAFETY: names are C literals.
        let name = |function: &RawFunction| unsafe { CStr::from_ptr(function.name) }.to_string_lossy().into_owned();
        let functions = functions.iter().map(|function| (name(function), function.call)).collect();
        let mut loaded = ExternLibrary { raw, functions, objects: Vec::new(), _library: library };
        loaded
            .create()
            .map_err(|name| refused(format!("the object `{name}` cannot be made: its C function gave NULL")))?;
        Ok(loaded)
    }

    fn descriptors<'a>(&self) -> &'a [RawObject] {
        // SAFETY: as for the functions; the library is held as long as this value.
        unsafe { array((*self.raw).objects, (*self.raw).object_count) }
    }

    fn create(&mut self) -> Result<(), String> {
        for declared in self.descriptors() {
            // SAFETY: the function takes nothing.
            let object = unsafe { (declared.create)() };
            if object.is_null() {
                // SAFETY: names are C literals.
                return Err(unsafe { CStr::from_ptr(declared.name) }.to_string_lossy().into_owned());
            }
            self.objects.push(object);
        }
        Ok(())
    }

    fn destroy(&mut self) {
        for (declared, object) in self.descriptors().iter().zip(self.objects.drain(..)) {
            // SAFETY: made by the same object's `create`.
            unsafe { (declared.destroy)(object) };
        }
    }

    /// Makes all objects anew, or reports which cannot be made.
    pub fn reset(&mut self) -> Result<(), String> {
        self.destroy();
        self.create()
    }

    /// Calls a function on an object; `limbs` are its arguments one behind the other, and then its result. False if there is none of this name.
    pub fn call(
        &mut self,
        function: &str,
        object: Option<usize>,
        payload: Option<&mut Vec<u8>>,
        limbs: &mut [u64],
    ) -> bool {
        let Some(call) = self.functions.get(function) else { return false };
        let object = object.and_then(|object| self.objects.get(object)).copied().unwrap_or(std::ptr::null_mut());
        let mut nothing = Vec::new();
        let bytes = payload.unwrap_or(&mut nothing);
        let length = bytes.len();
        bytes.resize(length + GROWTH, 0);
        let mut raw = RawPayload { data: bytes.as_mut_ptr(), length: length as u32, room: bytes.len() as u32 };
        // SAFETY: the library was compiled from the same program as the caller's arguments; the user's code keeps to the payload's room.
        unsafe { call(object, &mut raw, limbs.as_mut_ptr()) };
        bytes.truncate(raw.length as usize);
        true
    }
}

impl Drop for ExternLibrary {
    fn drop(&mut self) {
        self.destroy();
    }
}

/// # Safety
/// `raw` is NULL or has `count` elements that live as long as `'a`.
unsafe fn array<'a, T>(raw: *const T, count: u32) -> &'a [T] {
    if raw.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(raw, count as usize) }
}
