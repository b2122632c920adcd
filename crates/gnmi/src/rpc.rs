//! The service as gRPC calls it.

use crate::extension::check_extensions;
use crate::interfaces::Interfaces;
use crate::message::{
    CapabilityRequest, CapabilityResponse, Encoding, GetRequest, GetResponse, SetRequest, SetResponse,
    SubscribeRequest, SubscribeResponse,
};
use crate::service::server::g_nmi_server::GNmi;
use crate::{get, models, set, stream};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::block_in_place;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

/// The version of the protocol that is spoken.
const VERSION: &str = "0.10.0";
/// Messages that may wait for a client that does not read.
const QUEUE: usize = 64;

pub struct Rpc {
    pub interfaces: Arc<dyn Interfaces>,
}

#[tonic::async_trait]
impl GNmi for Rpc {
    type SubscribeStream = ReceiverStream<Result<SubscribeResponse, Status>>;

    async fn capabilities(&self, request: Request<CapabilityRequest>) -> Result<Response<CapabilityResponse>, Status> {
        check_extensions(&request.get_ref().extension)?;
        Ok(Response::new(CapabilityResponse {
            supported_models: models::models(),
            supported_encodings: [Encoding::Json, Encoding::Proto, Encoding::JsonIetf].map(i32::from).to_vec(),
            g_nmi_version: VERSION.to_string(),
            extension: Vec::new(),
        }))
    }

    async fn get(&self, request: Request<GetRequest>) -> Result<Response<GetResponse>, Status> {
        block_in_place(|| get::get(&*self.interfaces, request.get_ref())).map(Response::new)
    }

    async fn set(&self, request: Request<SetRequest>) -> Result<Response<SetResponse>, Status> {
        block_in_place(|| set::set(&*self.interfaces, request.get_ref())).map(Response::new)
    }

    async fn subscribe(
        &self,
        request: Request<Streaming<SubscribeRequest>>,
    ) -> Result<Response<Self::SubscribeStream>, Status> {
        let (outbox, inbox) = mpsc::channel(QUEUE);
        let interfaces = self.interfaces.clone();
        tokio::spawn(async move {
            if let Err(status) = stream::serve(interfaces, request.into_inner(), &outbox).await {
                drop(outbox.send(Err(status)).await);
            }
        });
        Ok(Response::new(ReceiverStream::new(inbox)))
    }
}
