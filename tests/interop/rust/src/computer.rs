//! The Computer, hosting the MCP servers of `--servers`. Commands: `join`, `leave`, `update`, `second`, `reach`.

use std::collections::HashMap;
use std::sync::Arc;

use a2c_smcp::smcp_computer::computer::{Computer, ConnectOptions, SilentSession};
use a2c_smcp::smcp_computer::mcp_clients::model::MCPServerConfig;
use serde_json::{json, Value};

use crate::lines::{option, serve, text, Answer, Failure};

type SilentComputer = Computer<SilentSession>;

pub async fn run(args: &[String]) -> Result<(), Failure> {
    let url = option(args, "--url").ok_or("missing --url")?;
    let name = option(args, "--name").unwrap_or_else(|| "rust-computer".into());
    let servers: Vec<MCPServerConfig> =
        serde_json::from_str(&option(args, "--servers").unwrap_or_else(|| "[]".into()))?;
    let servers = servers.into_iter().map(|server| (server.name().to_string(), server)).collect();
    let home = std::env::temp_dir().join(format!("rust-peer-{}", std::process::id()));
    let mut computer = open(&name, servers)
        .with_blob_cache_root(home.join("blobs"))
        .with_config_dir(home.join("config"));
    if let Some(skills) = option(args, "--skill-home") {
        computer = computer.with_skill_home(skills);
    }
    if let Some(uploads) = option(args, "--landing-root") {
        computer = computer.with_landing_root(uploads);
    }
    let computer = Arc::new(computer);
    computer.boot_up().await?;
    computer.start_all_mcp_clients().await?;
    computer.connect_socketio(&url, ConnectOptions::default()).await?;
    let (served, at) = (computer.clone(), url.clone());
    let ready = json!({ "name": name, "office": Value::Null });
    serve(ready, move |command| answer(served.clone(), at.clone(), command)).await?;
    computer.shutdown().await?;
    let _ = std::fs::remove_dir_all(home);
    Ok(())
}

fn open(name: &str, servers: HashMap<String, MCPServerConfig>) -> SilentComputer {
    Computer::new(name, SilentSession::new(name), None, Some(servers), true, true)
}

fn answer(computer: Arc<SilentComputer>, url: String, command: Value) -> Answer {
    Box::pin(async move {
        match command["command"].as_str().unwrap_or_default() {
            "join" => computer.join_office(&text(&command, "office"), computer.name()).await?,
            "leave" => computer.leave_office().await?,
            "update" => computer.emit_update_config().await?,
            "second" => visit(&url, &text(&command, "name"), Some(text(&command, "office"))).await?,
            "reach" => visit(&text(&command, "url"), computer.name(), None).await?,
            other => return Err(format!("no such command: {other}").into()),
        }
        Ok(Value::Null)
    })
}

/// Connects with one more Computer, and joins where an office is named.
async fn visit(url: &str, name: &str, office: Option<String>) -> Result<(), Failure> {
    let other = open(name, HashMap::new());
    other.boot_up().await?;
    let outcome = async {
        other.connect_socketio(url, ConnectOptions::default()).await?;
        match office {
            Some(office) => other.join_office(&office, name).await,
            None => Ok(()),
        }
    }
    .await;
    other.shutdown().await?;
    Ok(outcome?)
}
