//! TLS of the server, from certificates in PEM.

use crate::settings::Tls;
use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

/// # Errors
/// Certificates or keys that are none, or do not fit each other.
pub fn acceptor(tls: &Tls) -> Result<TlsAcceptor> {
    let builder = ServerConfig::builder();
    let builder = match &tls.controllers {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(certificates(authority)?);
            let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build();
            builder.with_client_cert_verifier(verifier.map_err(invalid)?)
        }
    };
    let key = PrivateKeyDer::from_pem_slice(&tls.key).map_err(invalid)?;
    let mut config = builder.with_single_cert(certificates(&tls.certificate)?, key).map_err(invalid)?;
    config.alpn_protocols.push(b"h2".to_vec());
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_slice_iter(pem).collect::<std::result::Result<_, _>>().map_err(invalid)
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::InvalidInput, error)
}
