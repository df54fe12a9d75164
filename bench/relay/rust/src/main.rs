//! The official Rust SDK's Server on a free port of 127.0.0.1, for `deno task bench:relay`. Prints the address on which it listens.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use a2c_smcp::smcp_server_core::{
    DefaultAuthenticationProvider, InflightDisconnectRegistry, ServerState, SessionManager, SmcpHandler,
    SmcpServerLayer,
};
use a2c_smcp::smcp_server_hyper::HyperServerBuilder;
use socketioxide::SocketIo;
use tokio::net::TcpStream;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The default message limit of our Server.
const MAX_PAYLOAD_BYTES: u64 = 256 * 1024 * 1024;

/// The same as `SmcpServerBuilder::build_layer`, but with another message limit.
fn build_layer() -> SmcpServerLayer {
    let (layer, io) = SocketIo::builder().max_payload(MAX_PAYLOAD_BYTES).build_layer();
    let state = ServerState {
        session_manager: Arc::new(SessionManager::new()),
        auth_provider: Arc::new(DefaultAuthenticationProvider::new(Some("bench".into()), None)),
        io: Arc::new(io.clone()),
        inflight_disconnect: Arc::new(InflightDisconnectRegistry::default()),
    };
    SmcpHandler::register_handlers(&io, state.clone());
    SmcpServerLayer { io, layer, state }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    // The Server does not report which port it gets for port 0, so a free port is chosen first.
    let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let serving = tokio::spawn(HyperServerBuilder::new().with_layer(build_layer()).build().run(addr));
    while TcpStream::connect(addr).await.is_err() && !serving.is_finished() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    println!("listening on {addr}");
    serving.await?
}
