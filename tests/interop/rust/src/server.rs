//! The Server on a free port of 127.0.0.1.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use a2c_smcp::smcp_server_core::{
    AuthError, AuthenticationProvider, InflightDisconnectRegistry, ServerState, SessionManager, SmcpHandler,
    SmcpServerLayer,
};
use a2c_smcp::smcp_server_hyper::HyperServerBuilder;
use async_trait::async_trait;
use http::HeaderMap;
use serde_json::{json, Value};
use socketioxide::SocketIo;
use tokio::net::TcpStream;

use crate::lines::{serve, Answer, Failure};

/// The default message limit of our Server; that of the SDK, 100,000 bytes, would hide everything else.
const MAX_PAYLOAD_BYTES: u64 = 16 * 1024 * 1024;

pub async fn run() -> Result<(), Failure> {
    // The Server does not report which port it gets for port 0, so a free port is chosen first.
    let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let serving = tokio::spawn(HyperServerBuilder::new().with_layer(build_layer()).build().run(addr));
    while TcpStream::connect(addr).await.is_err() && !serving.is_finished() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    serve(json!({ "url": format!("http://{addr}"), "port": addr.port() }), |command| -> Answer {
        let name = command["command"].clone();
        Box::pin(async move { Err::<Value, Failure>(format!("no such command: {name}").into()) })
    })
    .await
}

/// Admits everybody; the provider of the SDK refuses a connection without a key, even when it was given none to expect.
#[derive(Debug)]
struct Open;

#[async_trait]
impl AuthenticationProvider for Open {
    async fn authenticate(&self, _: &HeaderMap, _: Option<&Value>) -> Result<(), AuthError> {
        Ok(())
    }
}

/// The same as `SmcpServerBuilder::build_layer`, but with another message limit, and open to everybody.
fn build_layer() -> SmcpServerLayer {
    let (layer, io) = SocketIo::builder().max_payload(MAX_PAYLOAD_BYTES).build_layer();
    let state = ServerState {
        session_manager: Arc::new(SessionManager::new()),
        auth_provider: Arc::new(Open),
        io: Arc::new(io.clone()),
        inflight_disconnect: Arc::new(InflightDisconnectRegistry::default()),
    };
    SmcpHandler::register_handlers(&io, state.clone());
    SmcpServerLayer { io, layer, state }
}
