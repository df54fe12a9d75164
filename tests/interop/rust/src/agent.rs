//! The Agent. Commands: `tools`, `call`, `desktop`, `resources`, `config`, `skills`, `skill`, `blob`, `put_blob`,
//! `list_room`, `second`, `reach`, `leave`. The SDK tells nobody the id of a call, so `cancel` is not among them.

use std::sync::Arc;

use a2c_smcp::smcp_agent::{AsyncAgentEventHandler, AsyncSmcpAgent, DefaultAuthProvider, SmcpAgentConfig, SmcpAgentError};
use a2c_smcp::{
    A2CSkillRef, EnterOfficeNotification, LeaveOfficeNotification, SMCPTool, UpdateMCPConfigNotification,
    UpdateToolListNotification,
};
use async_trait::async_trait;
use base64::{engine::general_purpose::STANDARD, Engine};
use serde_json::{json, Value};
use tokio::time::{sleep, Duration};

use crate::lines::{notify, option, optional, serve, text, Answer, Failure};

struct Reporter;

#[async_trait]
impl AsyncAgentEventHandler for Reporter {
    async fn on_computer_enter_office(&self, data: EnterOfficeNotification, _: &AsyncSmcpAgent) -> Result<(), SmcpAgentError> {
        notify("notify:enter_office", json!(data));
        Ok(())
    }
    async fn on_computer_leave_office(&self, data: LeaveOfficeNotification, _: &AsyncSmcpAgent) -> Result<(), SmcpAgentError> {
        notify("notify:leave_office", json!(data));
        Ok(())
    }
    async fn on_computer_update_config(&self, data: UpdateMCPConfigNotification, _: &AsyncSmcpAgent) -> Result<(), SmcpAgentError> {
        notify("notify:update_config", json!(data));
        Ok(())
    }
    async fn on_computer_update_tool_list(&self, data: UpdateToolListNotification, _: &AsyncSmcpAgent) -> Result<(), SmcpAgentError> {
        notify("notify:update_tool_list", json!(data));
        Ok(())
    }
    async fn on_tools_received(&self, computer: &str, tools: Vec<SMCPTool>, _: &AsyncSmcpAgent) -> Result<(), SmcpAgentError> {
        notify("tools_received", json!({ "computer": computer, "tools": tools }));
        Ok(())
    }
    async fn on_desktop_updated(&self, computer: &str, _: Vec<String>, _: &AsyncSmcpAgent) -> Result<(), SmcpAgentError> {
        notify("notify:update_desktop", json!({ "computer": computer }));
        Ok(())
    }
    async fn on_skills_received(&self, computer: &str, _: Vec<A2CSkillRef>, _: &AsyncSmcpAgent) -> Result<(), SmcpAgentError> {
        notify("notify:update_skills", json!({ "computer": computer }));
        Ok(())
    }
}

/// Where the Agent is.
#[derive(Clone)]
struct Place {
    url: String,
    office: String,
}

pub async fn run(args: &[String]) -> Result<(), Failure> {
    let place = Place {
        url: option(args, "--url").ok_or("missing --url")?,
        office: option(args, "--office").ok_or("missing --office")?,
    };
    let name = option(args, "--name").unwrap_or_else(|| "rust-agent".into());
    let agent = Arc::new(connect(&place, &name).await?);
    agent.join_office(&name).await?;
    until_joined(&agent, &place, &name).await?;
    let ready = json!({ "name": name, "office": place.office });
    serve(ready, move |command| answer(agent.clone(), place.clone(), command)).await
}

async fn connect(place: &Place, name: &str) -> Result<AsyncSmcpAgent, Failure> {
    let credentials = DefaultAuthProvider::new(name.to_string(), place.office.clone());
    let mut agent = AsyncSmcpAgent::new(credentials, SmcpAgentConfig::new().with_tool_call_timeout(60))
        .with_event_handler(Reporter);
    agent.connect(&place.url).await?;
    Ok(agent)
}

/// The SDK asks for no ack of a join, so the list of the office shows it.
async fn until_joined(agent: &AsyncSmcpAgent, place: &Place, name: &str) -> Result<(), Failure> {
    for _ in 0..50 {
        if let Ok(sessions) = agent.list_room(&place.office).await {
            if json!(sessions).as_array().is_some_and(|all| all.iter().any(|each| each["name"] == name && each["role"] == "agent")) {
                return Ok(());
            }
        }
        sleep(Duration::from_millis(100)).await;
    }
    Err("join not confirmed by list_room".into())
}

fn answer(agent: Arc<AsyncSmcpAgent>, place: Place, command: Value) -> Answer {
    Box::pin(async move {
        let computer = text(&command, "computer");
        Ok(match command["command"].as_str().unwrap_or_default() {
            "tools" => json!({ "tools": agent.get_tools(&computer).await? }),
            "call" => call(&agent, &computer, &command).await?,
            "desktop" => {
                let size = command["size"].as_i64().and_then(|size| i32::try_from(size).ok());
                json!({ "desktops": agent.get_desktop(&computer, size, optional(&command, "window")).await? })
            }
            "resources" => {
                let server = text(&command, "mcp_server");
                json!(agent.get_resources(&computer, &server, optional(&command, "cursor")).await?)
            }
            "config" => json!([agent.get_computer_config(&computer).await?]),
            "skills" => json!({ "skills": agent.get_skills(&computer).await? }),
            "skill" => {
                let path = optional(&command, "rel_path");
                json!(agent.get_skill(&computer, &text(&command, "name"), path.as_deref()).await?)
            }
            "blob" => json!(read_blob(&agent, &computer, &text(&command, "handle")).await?),
            "put_blob" => {
                let bytes = STANDARD.decode(text(&command, "data"))?;
                let stored = agent.put_blob(&computer, &bytes, optional(&command, "name").as_deref(), None).await?;
                json!({ "landing_path": stored.landing_path, "total_size": stored.total_size, "sha256": stored.sha256 })
            }
            "list_room" => json!([{ "sessions": agent.list_room(&place.office).await? }]),
            "second" => {
                let name = text(&command, "name");
                let other = connect(&place, &name).await?;
                other.join_office(&name).await?;
                until_joined(&other, &place, &name).await?;
                Value::Null
            }
            "reach" => {
                let elsewhere = Place { url: text(&command, "url"), ..place };
                connect(&elsewhere, "eve").await?;
                Value::Null
            }
            "leave" => {
                agent.leave_office().await?;
                Value::Null
            }
            other => return Err(format!("no such command: {other}").into()),
        })
    })
}

/// The SDK has one time for all calls of an Agent, so that of the command has no effect.
async fn call(agent: &AsyncSmcpAgent, computer: &str, command: &Value) -> Result<Value, Failure> {
    let params = command.get("params").cloned().unwrap_or_else(|| json!({}));
    Ok(agent.tool_call(computer, &text(command, "tool"), params).await?)
}

async fn read_blob(agent: &AsyncSmcpAgent, computer: &str, handle: &str) -> Result<String, Failure> {
    let mut content = Vec::new();
    loop {
        let chunk = agent.get_blob(computer, handle, Some(content.len() as u64), None).await?;
        content.extend(STANDARD.decode(&chunk.blob)?);
        if chunk.eof {
            return Ok(STANDARD.encode(content));
        }
    }
}
