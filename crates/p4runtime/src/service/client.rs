//! Generated from the files in `crates/control/proto`: do not edit.

/// Generated client implementations.
pub mod p4_runtime_client {
    #![allow(
        unused_variables,
        dead_code,
        missing_docs,
        clippy::wildcard_imports,
        clippy::let_unit_value,
    )]
    use tonic::codegen::*;
    use tonic::codegen::http::Uri;
    #[derive(Debug, Clone)]
    pub struct P4RuntimeClient<T> {
        inner: tonic::client::Grpc<T>,
    }
    impl<T> P4RuntimeClient<T>
    where
        T: tonic::client::GrpcService<tonic::body::Body>,
        T::Error: Into<StdError>,
        T::ResponseBody: Body<Data = Bytes> + std::marker::Send + 'static,
        <T::ResponseBody as Body>::Error: Into<StdError> + std::marker::Send,
    {
        pub fn new(inner: T) -> Self {
            let inner = tonic::client::Grpc::new(inner);
            Self { inner }
        }
        pub fn with_origin(inner: T, origin: Uri) -> Self {
            let inner = tonic::client::Grpc::with_origin(inner, origin);
            Self { inner }
        }
        pub fn with_interceptor<F>(
            inner: T,
            interceptor: F,
        ) -> P4RuntimeClient<InterceptedService<T, F>>
        where
            F: tonic::service::Interceptor,
            T::ResponseBody: Default,
            T: tonic::codegen::Service<
                http::Request<tonic::body::Body>,
                Response = http::Response<
                    <T as tonic::client::GrpcService<tonic::body::Body>>::ResponseBody,
                >,
            >,
            <T as tonic::codegen::Service<
                http::Request<tonic::body::Body>,
            >>::Error: Into<StdError> + std::marker::Send + std::marker::Sync,
        {
            P4RuntimeClient::new(InterceptedService::new(inner, interceptor))
        }
        /// Compress requests with the given encoding.
        ///
        /// This requires the server to support it otherwise it might respond with an
        /// error.
        #[must_use]
        pub fn send_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.inner = self.inner.send_compressed(encoding);
            self
        }
        /// Enable decompressing responses.
        #[must_use]
        pub fn accept_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.inner = self.inner.accept_compressed(encoding);
            self
        }
        /// Limits the maximum size of a decoded message.
        ///
        /// Default: `4MB`
        #[must_use]
        pub fn max_decoding_message_size(mut self, limit: usize) -> Self {
            self.inner = self.inner.max_decoding_message_size(limit);
            self
        }
        /// Limits the maximum size of an encoded message.
        ///
        /// Default: `usize::MAX`
        #[must_use]
        pub fn max_encoding_message_size(mut self, limit: usize) -> Self {
            self.inner = self.inner.max_encoding_message_size(limit);
            self
        }
        pub async fn write(
            &mut self,
            request: impl tonic::IntoRequest<::control::message::runtime::WriteRequest>,
        ) -> std::result::Result<
            tonic::Response<::control::message::runtime::WriteResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/p4.v1.P4Runtime/Write");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("p4.v1.P4Runtime", "Write"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn read(
            &mut self,
            request: impl tonic::IntoRequest<::control::message::runtime::ReadRequest>,
        ) -> std::result::Result<
            tonic::Response<
                tonic::codec::Streaming<::control::message::runtime::ReadResponse>,
            >,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/p4.v1.P4Runtime/Read");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("p4.v1.P4Runtime", "Read"));
            self.inner.server_streaming(req, path, codec).await
        }
        pub async fn set_forwarding_pipeline_config(
            &mut self,
            request: impl tonic::IntoRequest<
                ::control::message::runtime::SetForwardingPipelineConfigRequest,
            >,
        ) -> std::result::Result<
            tonic::Response<
                ::control::message::runtime::SetForwardingPipelineConfigResponse,
            >,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/p4.v1.P4Runtime/SetForwardingPipelineConfig",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(
                    GrpcMethod::new("p4.v1.P4Runtime", "SetForwardingPipelineConfig"),
                );
            self.inner.unary(req, path, codec).await
        }
        pub async fn get_forwarding_pipeline_config(
            &mut self,
            request: impl tonic::IntoRequest<
                ::control::message::runtime::GetForwardingPipelineConfigRequest,
            >,
        ) -> std::result::Result<
            tonic::Response<
                ::control::message::runtime::GetForwardingPipelineConfigResponse,
            >,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/p4.v1.P4Runtime/GetForwardingPipelineConfig",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(
                    GrpcMethod::new("p4.v1.P4Runtime", "GetForwardingPipelineConfig"),
                );
            self.inner.unary(req, path, codec).await
        }
        pub async fn stream_channel(
            &mut self,
            request: impl tonic::IntoStreamingRequest<
                Message = ::control::message::runtime::StreamMessageRequest,
            >,
        ) -> std::result::Result<
            tonic::Response<
                tonic::codec::Streaming<
                    ::control::message::runtime::StreamMessageResponse,
                >,
            >,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/p4.v1.P4Runtime/StreamChannel",
            );
            let mut req = request.into_streaming_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("p4.v1.P4Runtime", "StreamChannel"));
            self.inner.streaming(req, path, codec).await
        }
        pub async fn capabilities(
            &mut self,
            request: impl tonic::IntoRequest<
                ::control::message::runtime::CapabilitiesRequest,
            >,
        ) -> std::result::Result<
            tonic::Response<::control::message::runtime::CapabilitiesResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/p4.v1.P4Runtime/Capabilities",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("p4.v1.P4Runtime", "Capabilities"));
            self.inner.unary(req, path, codec).await
        }
    }
}
