//! TLS with the certificates of Docker's settings.

use std::{io, path::Path, sync::Arc};

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::{
    ClientConfig, ConfigBuilder, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::{
        WantsClientCert,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
};
use rustls_platform_verifier::BuilderVerifierExt;

use super::super::address::TlsSettings;
use crate::error::{AddressError, CertificateError, CertificateFault};

/// Returns the URL of an engine behind TLS. Without a port, `tcp` means that of Docker with TLS.
pub(super) fn url(authority: &str, is_tcp: bool) -> Result<String, AddressError> {
    let url = format!("https://{authority}").parse::<hyper::Uri>();
    let url = url.map_err(|error| AddressError::Malformed(error.to_string()))?;
    let parts = url.authority().filter(|it| !it.as_str().contains('@'));
    let (Some(authority), "/") = (parts, url.path()) else {
        return Err(AddressError::Malformed("it is not HOST or HOST:PORT".to_owned()));
    };
    let port = if is_tcp && authority.port().is_none() { ":2376" } else { "" };
    Ok(format!("https://{authority}{port}"))
}

/// Returns a connector with the certificates of `settings`.
pub(super) fn connector(
    settings: &TlsSettings,
) -> Result<HttpsConnector<HttpConnector>, CertificateError> {
    let builder = HttpsConnectorBuilder::new().with_tls_config(config(settings)?);
    Ok(builder.https_only().enable_http1().build())
}

fn config(settings: &TlsSettings) -> Result<ClientConfig, CertificateError> {
    let folder = settings.folder.as_deref();
    let builder = verified(settings.skips_verify, folder)?;
    let Some(folder) = folder else { return Ok(builder.with_no_client_auth()) };
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    let (certificates, keys) = match (read(&certificate)?, read(&key)?) {
        (None, None) => return Ok(builder.with_no_client_auth()),
        (Some(certificate), Some(key)) => (certificate, key),
        (None, Some(_)) => return Err(CertificateFault::NoCertificate.of(&certificate)),
        (Some(_), None) => return Err(CertificateFault::NoKey.of(&key)),
    };
    let certificates = parsed(&certificates, &certificate)?;
    let private = PrivateKeyDer::from_pem_slice(&keys);
    let private = private.map_err(|_| CertificateFault::NotKey.of(&key))?;
    let config = builder.with_client_auth_cert(certificates, private);
    config.map_err(|error| CertificateFault::Refused(error).of(&key))
}

/// Returns a builder that checks the engine by `ca.pem`, or by the machine's authorities without it.
fn verified(
    skips_verify: bool,
    folder: Option<&Path>,
) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, CertificateError> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone());
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.map_err(CertificateError::Library)?;
    if skips_verify {
        let verifier = Arc::new(AnyEngine(provider));
        return Ok(builder.dangerous().with_custom_certificate_verifier(verifier));
    }
    let path = folder.map(|it| it.join("ca.pem"));
    let authority = path.as_deref().map(read).transpose()?.flatten().zip(path);
    let Some((text, path)) = authority else {
        return builder.with_platform_verifier().map_err(CertificateError::Library);
    };
    let mut roots = RootCertStore::empty();
    for certificate in parsed(&text, &path)? {
        let added = roots.add(certificate);
        added.map_err(|error| CertificateFault::Refused(error).of(&path))?;
    }
    Ok(builder.with_root_certificates(roots))
}

/// Returns the bytes of a file; `None` if there is none.
fn read(path: &Path) -> Result<Option<Vec<u8>>, CertificateError> {
    match trellis_os::files::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CertificateFault::Unreadable(error).of(path)),
    }
}

fn parsed(text: &[u8], path: &Path) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        _ => Err(CertificateFault::NotCertificate.of(path)),
    }
}

/// A verifier that accepts every certificate, for a context with `SkipTLSVerify`.
#[derive(Debug)]
struct AnyEngine(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyEngine {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
