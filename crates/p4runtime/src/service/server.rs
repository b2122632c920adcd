//! Generated from the files in `crates/control/proto`: do not edit.

/// Generated server implementations.
pub mod p4_runtime_server {
    #![allow(
        unused_variables,
        dead_code,
        missing_docs,
        clippy::wildcard_imports,
        clippy::let_unit_value,
    )]
    use tonic::codegen::*;
    /// Generated trait containing gRPC methods that should be implemented for use with P4RuntimeServer.
    #[async_trait]
    pub trait P4Runtime: std::marker::Send + std::marker::Sync + 'static {
        async fn write(
            &self,
            request: tonic::Request<::control::message::runtime::WriteRequest>,
        ) -> std::result::Result<
            tonic::Response<::control::message::runtime::WriteResponse>,
            tonic::Status,
        >;
        /// Server streaming response type for the Read method.
        type ReadStream: tonic::codegen::tokio_stream::Stream<
                Item = std::result::Result<crate::encoded::Encoded, tonic::Status>,
            >
            + std::marker::Send
            + 'static;
        async fn read(
            &self,
            request: tonic::Request<::control::message::runtime::ReadRequest>,
        ) -> std::result::Result<tonic::Response<Self::ReadStream>, tonic::Status>;
        async fn set_forwarding_pipeline_config(
            &self,
            request: tonic::Request<
                ::control::message::runtime::SetForwardingPipelineConfigRequest,
            >,
        ) -> std::result::Result<
            tonic::Response<
                ::control::message::runtime::SetForwardingPipelineConfigResponse,
            >,
            tonic::Status,
        >;
        async fn get_forwarding_pipeline_config(
            &self,
            request: tonic::Request<
                ::control::message::runtime::GetForwardingPipelineConfigRequest,
            >,
        ) -> std::result::Result<
            tonic::Response<
                ::control::message::runtime::GetForwardingPipelineConfigResponse,
            >,
            tonic::Status,
        >;
        /// Server streaming response type for the StreamChannel method.
        type StreamChannelStream: tonic::codegen::tokio_stream::Stream<
                Item = std::result::Result<
                    ::control::message::runtime::StreamMessageResponse,
                    tonic::Status,
                >,
            >
            + std::marker::Send
            + 'static;
        async fn stream_channel(
            &self,
            request: tonic::Request<
                tonic::Streaming<::control::message::runtime::StreamMessageRequest>,
            >,
        ) -> std::result::Result<
            tonic::Response<Self::StreamChannelStream>,
            tonic::Status,
        >;
        async fn capabilities(
            &self,
            request: tonic::Request<::control::message::runtime::CapabilitiesRequest>,
        ) -> std::result::Result<
            tonic::Response<::control::message::runtime::CapabilitiesResponse>,
            tonic::Status,
        >;
    }
    #[derive(Debug)]
    pub struct P4RuntimeServer<T> {
        inner: Arc<T>,
        accept_compression_encodings: EnabledCompressionEncodings,
        send_compression_encodings: EnabledCompressionEncodings,
        max_decoding_message_size: Option<usize>,
        max_encoding_message_size: Option<usize>,
    }
    impl<T> P4RuntimeServer<T> {
        pub fn new(inner: T) -> Self {
            Self::from_arc(Arc::new(inner))
        }
        pub fn from_arc(inner: Arc<T>) -> Self {
            Self {
                inner,
                accept_compression_encodings: Default::default(),
                send_compression_encodings: Default::default(),
                max_decoding_message_size: None,
                max_encoding_message_size: None,
            }
        }
        pub fn with_interceptor<F>(
            inner: T,
            interceptor: F,
        ) -> InterceptedService<Self, F>
        where
            F: tonic::service::Interceptor,
        {
            InterceptedService::new(Self::new(inner), interceptor)
        }
        /// Enable decompressing requests with the given encoding.
        #[must_use]
        pub fn accept_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.accept_compression_encodings.enable(encoding);
            self
        }
        /// Compress responses with the given encoding, if the client supports it.
        #[must_use]
        pub fn send_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.send_compression_encodings.enable(encoding);
            self
        }
        /// Limits the maximum size of a decoded message.
        ///
        /// Default: `4MB`
        #[must_use]
        pub fn max_decoding_message_size(mut self, limit: usize) -> Self {
            self.max_decoding_message_size = Some(limit);
            self
        }
        /// Limits the maximum size of an encoded message.
        ///
        /// Default: `usize::MAX`
        #[must_use]
        pub fn max_encoding_message_size(mut self, limit: usize) -> Self {
            self.max_encoding_message_size = Some(limit);
            self
        }
    }
    impl<T, B> tonic::codegen::Service<http::Request<B>> for P4RuntimeServer<T>
    where
        T: P4Runtime,
        B: Body + std::marker::Send + 'static,
        B::Error: Into<StdError> + std::marker::Send + 'static,
    {
        type Response = http::Response<tonic::body::Body>;
        type Error = std::convert::Infallible;
        type Future = BoxFuture<Self::Response, Self::Error>;
        fn poll_ready(
            &mut self,
            _cx: &mut Context<'_>,
        ) -> Poll<std::result::Result<(), Self::Error>> {
            Poll::Ready(Ok(()))
        }
        fn call(&mut self, req: http::Request<B>) -> Self::Future {
            match req.uri().path() {
                "/p4.v1.P4Runtime/Write" => {
                    #[allow(non_camel_case_types)]
                    struct WriteSvc<T: P4Runtime>(pub Arc<T>);
                    impl<
                        T: P4Runtime,
                    > tonic::server::UnaryService<
                        ::control::message::runtime::WriteRequest,
                    > for WriteSvc<T> {
                        type Response = ::control::message::runtime::WriteResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<
                                ::control::message::runtime::WriteRequest,
                            >,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as P4Runtime>::write(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = WriteSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/p4.v1.P4Runtime/Read" => {
                    #[allow(non_camel_case_types)]
                    struct ReadSvc<T: P4Runtime>(pub Arc<T>);
                    impl<
                        T: P4Runtime,
                    > tonic::server::ServerStreamingService<
                        ::control::message::runtime::ReadRequest,
                    > for ReadSvc<T> {
                        type Response = crate::encoded::Encoded;
                        type ResponseStream = T::ReadStream;
                        type Future = BoxFuture<
                            tonic::Response<Self::ResponseStream>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<
                                ::control::message::runtime::ReadRequest,
                            >,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as P4Runtime>::read(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = ReadSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.server_streaming(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/p4.v1.P4Runtime/SetForwardingPipelineConfig" => {
                    #[allow(non_camel_case_types)]
                    struct SetForwardingPipelineConfigSvc<T: P4Runtime>(pub Arc<T>);
                    impl<
                        T: P4Runtime,
                    > tonic::server::UnaryService<
                        ::control::message::runtime::SetForwardingPipelineConfigRequest,
                    > for SetForwardingPipelineConfigSvc<T> {
                        type Response = ::control::message::runtime::SetForwardingPipelineConfigResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<
                                ::control::message::runtime::SetForwardingPipelineConfigRequest,
                            >,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as P4Runtime>::set_forwarding_pipeline_config(
                                        &inner,
                                        request,
                                    )
                                    .await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = SetForwardingPipelineConfigSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/p4.v1.P4Runtime/GetForwardingPipelineConfig" => {
                    #[allow(non_camel_case_types)]
                    struct GetForwardingPipelineConfigSvc<T: P4Runtime>(pub Arc<T>);
                    impl<
                        T: P4Runtime,
                    > tonic::server::UnaryService<
                        ::control::message::runtime::GetForwardingPipelineConfigRequest,
                    > for GetForwardingPipelineConfigSvc<T> {
                        type Response = ::control::message::runtime::GetForwardingPipelineConfigResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<
                                ::control::message::runtime::GetForwardingPipelineConfigRequest,
                            >,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as P4Runtime>::get_forwarding_pipeline_config(
                                        &inner,
                                        request,
                                    )
                                    .await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetForwardingPipelineConfigSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/p4.v1.P4Runtime/StreamChannel" => {
                    #[allow(non_camel_case_types)]
                    struct StreamChannelSvc<T: P4Runtime>(pub Arc<T>);
                    impl<
                        T: P4Runtime,
                    > tonic::server::StreamingService<
                        ::control::message::runtime::StreamMessageRequest,
                    > for StreamChannelSvc<T> {
                        type Response = ::control::message::runtime::StreamMessageResponse;
                        type ResponseStream = T::StreamChannelStream;
                        type Future = BoxFuture<
                            tonic::Response<Self::ResponseStream>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<
                                tonic::Streaming<
                                    ::control::message::runtime::StreamMessageRequest,
                                >,
                            >,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as P4Runtime>::stream_channel(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = StreamChannelSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.streaming(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/p4.v1.P4Runtime/Capabilities" => {
                    #[allow(non_camel_case_types)]
                    struct CapabilitiesSvc<T: P4Runtime>(pub Arc<T>);
                    impl<
                        T: P4Runtime,
                    > tonic::server::UnaryService<
                        ::control::message::runtime::CapabilitiesRequest,
                    > for CapabilitiesSvc<T> {
                        type Response = ::control::message::runtime::CapabilitiesResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<
                                ::control::message::runtime::CapabilitiesRequest,
                            >,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as P4Runtime>::capabilities(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = CapabilitiesSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                _ => {
                    Box::pin(async move {
                        let mut response = http::Response::new(
                            tonic::body::Body::default(),
                        );
                        let headers = response.headers_mut();
                        headers
                            .insert(
                                tonic::Status::GRPC_STATUS,
                                (tonic::Code::Unimplemented as i32).into(),
                            );
                        headers
                            .insert(
                                http::header::CONTENT_TYPE,
                                tonic::metadata::GRPC_CONTENT_TYPE,
                            );
                        Ok(response)
                    })
                }
            }
        }
    }
    impl<T> Clone for P4RuntimeServer<T> {
        fn clone(&self) -> Self {
            let inner = self.inner.clone();
            Self {
                inner,
                accept_compression_encodings: self.accept_compression_encodings,
                send_compression_encodings: self.send_compression_encodings,
                max_decoding_message_size: self.max_decoding_message_size,
                max_encoding_message_size: self.max_encoding_message_size,
            }
        }
    }
    /// Generated gRPC service name
    pub const SERVICE_NAME: &str = "p4.v1.P4Runtime";
    impl<T> tonic::server::NamedService for P4RuntimeServer<T> {
        const NAME: &'static str = SERVICE_NAME;
    }
}
