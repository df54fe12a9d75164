//! The roles of the official Rust SDK as programs that the matrix talks to: `rust-peer server|computer|agent`.

mod agent;
mod computer;
mod lines;
mod server;

use serde_json::json;

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.first().map(String::as_str) {
        Some("server") => server::run().await,
        Some("computer") => computer::run(&args).await,
        Some("agent") => agent::run(&args).await,
        _ => Err("Expected server, computer or agent".into()),
    };
    if let Err(error) = outcome {
        lines::say(json!({ "failed": error.to_string() }));
        std::process::exit(1);
    }
    // Tasks of the SDK may still run.
    std::process::exit(0);
}
