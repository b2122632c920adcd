//! Extensions of requests.

use tonic::Status;

/// An extension of a request; none is supported.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct Extension {}

/// An extension may change the meaning of its request.
pub fn check_extensions(extensions: &[Extension]) -> Result<(), Status> {
    match extensions {
        [] => Ok(()),
        [..] => Err(Status::unimplemented("extensions are not supported")),
    }
}
