//! The objects of custom externs: made before the first worker attaches, and let go after the last has detached.

use crate::abi;
use crate::pipeline::Pipeline;
use std::ffi::c_void;
use std::sync::Arc;

pub(crate) struct Objects {
    pointers: Vec<*mut c_void>,
    /// Whose code made them.
    pipeline: Arc<Pipeline>,
}

// SAFETY: an object is used by the pipeline's code only, which is written for several workers.
unsafe impl Send for Objects {}

impl Objects {
    /// All objects of a pipeline; or the name of one that could not be made.
    pub fn create(pipeline: &Arc<Pipeline>) -> Result<Objects, String> {
        let mut objects = Objects { pointers: Vec::new(), pipeline: pipeline.clone() };
        for (index, declared) in pipeline.description().externs.iter().enumerate() {
            // SAFETY: the description has as many as the descriptor; the function takes nothing.
            let object = unsafe { (objects.descriptor(index).create)() };
            if object.is_null() {
                return Err(declared.name.clone());
            }
            objects.pointers.push(object);
        }
        Ok(objects)
    }

    fn descriptor(&self, index: usize) -> &abi::ExternDescriptor {
        // SAFETY: indices are those of the description, which was read from this array.
        unsafe { &*self.pipeline.raw().externs.add(index) }
    }

    pub fn raw(&self) -> *const *mut c_void {
        self.pointers.as_ptr()
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        for (index, object) in self.pointers.iter().enumerate() {
            // SAFETY: made by the same extern's `create`, and used by no worker any more.
            unsafe { (self.descriptor(index).destroy)(*object) };
        }
    }
}
