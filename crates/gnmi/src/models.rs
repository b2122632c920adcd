//! The models of which the tree has a part.

use crate::message::ModelData;
use tonic::Status;

const MODELS: [(&str, &str); 2] = [("openconfig-interfaces", "3.7.2"), ("openconfig-p4rt", "1.0.0")];

pub fn models() -> Vec<ModelData> {
    let model = |(name, version): (&str, &str)| ModelData {
        name: name.to_string(),
        organization: "OpenConfig working group".to_string(),
        version: version.to_string(),
    };
    MODELS.map(model).to_vec()
}

/// A client may limit the answer to models.
pub fn check_models(wanted: &[ModelData]) -> Result<(), Status> {
    let unknown = wanted.iter().find(|model| MODELS.iter().all(|(name, _)| model.name != *name));
    match unknown {
        None => Ok(()),
        Some(model) => Err(Status::unimplemented(format!("the switch has no model `{}`", model.name))),
    }
}
