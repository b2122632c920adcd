//! Generated from the files in `crates/control/proto`: do not edit.

/// Generated client implementations.
pub mod switch_client {
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
    pub struct SwitchClient<T> {
        inner: tonic::client::Grpc<T>,
    }
    impl<T> SwitchClient<T>
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
        ) -> SwitchClient<InterceptedService<T, F>>
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
            SwitchClient::new(InterceptedService::new(inner, interceptor))
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
        pub async fn report(
            &mut self,
            request: impl tonic::IntoRequest<::control::message::switch::ReportRequest>,
        ) -> std::result::Result<
            tonic::Response<::control::message::switch::ReportResponse>,
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
            let path = http::uri::PathAndQuery::from_static("/bacus.v1.Switch/Report");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("bacus.v1.Switch", "Report"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn trace(
            &mut self,
            request: impl tonic::IntoRequest<::control::message::switch::TraceRequest>,
        ) -> std::result::Result<
            tonic::Response<::control::message::switch::TraceResponse>,
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
            let path = http::uri::PathAndQuery::from_static("/bacus.v1.Switch/Trace");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("bacus.v1.Switch", "Trace"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn add_port(
            &mut self,
            request: impl tonic::IntoRequest<::control::message::switch::AddPortRequest>,
        ) -> std::result::Result<
            tonic::Response<::control::message::switch::AddPortResponse>,
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
            let path = http::uri::PathAndQuery::from_static("/bacus.v1.Switch/AddPort");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("bacus.v1.Switch", "AddPort"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn remove_port(
            &mut self,
            request: impl tonic::IntoRequest<
                ::control::message::switch::RemovePortRequest,
            >,
        ) -> std::result::Result<
            tonic::Response<::control::message::switch::RemovePortResponse>,
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
                "/bacus.v1.Switch/RemovePort",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("bacus.v1.Switch", "RemovePort"));
            self.inner.unary(req, path, codec).await
        }
    }
}
