//! The service as gRPC calls it.

use crate::details;
use crate::device::Device;
use crate::encoded::Encoded;
use crate::failure::Failure;
use crate::incoming::Peer;
use crate::service::server::p4_runtime_server::P4Runtime;
use crate::service::switch_server::switch_server::Switch;
use crate::stream;
use control::message::runtime::{
    CapabilitiesRequest, CapabilitiesResponse, GetForwardingPipelineConfigRequest, GetForwardingPipelineConfigResponse,
    ReadRequest, SetForwardingPipelineConfigRequest, SetForwardingPipelineConfigResponse, StreamMessageRequest,
    StreamMessageResponse, WriteRequest, WriteResponse,
};
use control::message::switch::{
    AddPortRequest, AddPortResponse, RemovePortRequest, RemovePortResponse, ReportRequest, ReportResponse,
    TraceRequest, TraceResponse,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;
use tokio::task::block_in_place;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

/// The version of the protocol that is spoken.
const VERSION: &str = "1.5.0";

/// Updates of a Write that takes no longer than what the server does for any message.
const SHORT: usize = 16;

#[derive(Clone)]
pub struct Grpc {
    pub device: Arc<Device>,
    pub streams: Arc<AtomicUsize>,
}

/// A stream that is counted while it is open.
struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Bytes of metadata that the client of a request accepts.
fn metadata_limit<T>(request: &Request<T>) -> usize {
    let peer = request.extensions().get::<Peer>();
    details::metadata_limit(peer.and_then(|peer| peer.largest_metadata))
}

/// Whether the client uses the socket of the machine's user: what it names may be a file.
fn check_local<T>(request: &Request<T>) -> Result<(), Status> {
    match request.extensions().get::<Peer>() {
        Some(Peer { is_local: true, .. }) => Ok(()),
        Some(_) | None => Err(Status::permission_denied(
            "ports are added and removed by the switch's Unix socket alone: use `bacus ctl` as its user, on its machine",
        )),
    }
}

#[tonic::async_trait]
impl P4Runtime for Grpc {
    type ReadStream = tokio_stream::Iter<std::vec::IntoIter<Result<Encoded, Status>>>;
    type StreamChannelStream = ReceiverStream<Result<StreamMessageResponse, Status>>;

    async fn write(&self, request: Request<WriteRequest>) -> Result<Response<WriteResponse>, Status> {
        let (limit, request) = (metadata_limit(&request), request.get_ref());
        // Another thread for the server's other work costs more than a short Write that need not wait.
        let answer = match request.updates.len() <= SHORT && !self.device.target.is_busy() {
            true => self.device.begin_write(request, limit)?,
            false => block_in_place(|| self.device.begin_write(request, limit))?,
        };
        answer.saved().await?;
        Ok(Response::new(WriteResponse {}))
    }

    async fn read(&self, request: Request<ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let (answers, failed) = block_in_place(|| self.device.read(request.get_ref(), metadata_limit(&request)))?;
        let answers: Vec<_> = answers.into_iter().map(Ok).chain(failed.map(Err)).collect();
        Ok(Response::new(tokio_stream::iter(answers)))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        request: Request<SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<SetForwardingPipelineConfigResponse>, Status> {
        block_in_place(|| self.device.set_config(request.into_inner()))?;
        Ok(Response::new(SetForwardingPipelineConfigResponse {}))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<GetForwardingPipelineConfigResponse>, Status> {
        let config = block_in_place(|| self.device.get_config(request.get_ref()))?;
        Ok(Response::new(GetForwardingPipelineConfigResponse { config }))
    }

    async fn stream_channel(
        &self,
        request: Request<Streaming<StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let open = Open(self.streams.clone());
        if self.streams.fetch_add(1, Ordering::Relaxed) >= self.device.settings.most_streams {
            return Err(Status::resource_exhausted("there are too many streams already"));
        }
        let (outbox, inbox) = mpsc::channel(self.device.settings.queue);
        let device = self.device.clone();
        tokio::spawn(async move {
            stream::serve(device, request.into_inner(), outbox).await;
            drop(open);
        });
        Ok(Response::new(ReceiverStream::new(inbox)))
    }

    async fn capabilities(
        &self,
        request: Request<CapabilitiesRequest>,
    ) -> Result<Response<CapabilitiesResponse>, Status> {
        // Older clients leave the device out.
        let device = request.get_ref().device_id;
        if device != 0 {
            self.device.elections().check_device(device)?;
        }
        Ok(Response::new(CapabilitiesResponse { p4runtime_api_version: VERSION.to_string(), experimental: None }))
    }
}

#[tonic::async_trait]
impl Switch for Grpc {
    async fn report(&self, request: Request<ReportRequest>) -> Result<Response<ReportResponse>, Status> {
        self.device.elections().check_device(request.get_ref().device_id)?;
        let report = block_in_place(|| self.device.target.report());
        report.map(Response::new).ok_or_else(|| Status::unimplemented("the switch reports no counts"))
    }

    async fn trace(&self, request: Request<TraceRequest>) -> Result<Response<TraceResponse>, Status> {
        check_local(&request)?;
        self.device.elections().check_device(request.get_ref().device_id)?;
        let traced = block_in_place(|| self.device.target.trace(request.get_ref())).map_err(Failure::from)?;
        Ok(Response::new(traced))
    }

    async fn add_port(&self, request: Request<AddPortRequest>) -> Result<Response<AddPortResponse>, Status> {
        check_local(&request)?;
        let AddPortRequest { device_id, number, device } = request.get_ref();
        self.device.elections().check_device(*device_id)?;
        block_in_place(|| self.device.target.add_port(*number, device)).map_err(Failure::from)?;
        Ok(Response::new(AddPortResponse {}))
    }

    async fn remove_port(&self, request: Request<RemovePortRequest>) -> Result<Response<RemovePortResponse>, Status> {
        check_local(&request)?;
        let RemovePortRequest { device_id, port } = request.get_ref();
        self.device.elections().check_device(*device_id)?;
        block_in_place(|| self.device.target.remove_port(port)).map_err(Failure::from)?;
        Ok(Response::new(RemovePortResponse {}))
    }
}
