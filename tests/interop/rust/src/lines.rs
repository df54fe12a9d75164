//! JSON lines on stdin and stdout, in the form of `_driver.py`: `{"ready": {…}}` first, then an answer to each command.

use std::future::Future;
use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{json, Value};
use tokio::io::{AsyncBufReadExt, BufReader};

pub type Failure = Box<dyn std::error::Error + Send + Sync>;
pub type Answer = Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send>>;

/// Writes one line of the protocol.
pub fn say(message: Value) {
    let mut out = std::io::stdout().lock();
    // A test that has ended reads no more.
    let _ = writeln!(out, "{message}");
    let _ = out.flush();
}

/// Tells the test about something that happened unasked.
pub fn notify(event: &str, data: Value) {
    say(json!({ "event": event, "data": data }));
}

/// Answers commands until stdin ends. They run side by side, so that a slow call can be cancelled.
pub async fn serve(ready: Value, run: impl Fn(Value) -> Answer + Send + Sync + 'static) -> Result<(), Failure> {
    say(json!({ "ready": ready }));
    let run = Arc::new(run);
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let command: Value = serde_json::from_str(&line)?;
        let id = command["id"].clone();
        let answer = run(command);
        tokio::spawn(async move {
            match answer.await {
                Ok(result) => say(json!({ "id": id, "result": result })),
                Err(error) => say(json!({ "id": id, "error": error.to_string() })),
            }
        });
    }
    Ok(())
}

/// The text of a member; empty when it is none.
pub fn text(command: &Value, member: &str) -> String {
    command[member].as_str().unwrap_or_default().to_string()
}

/// The text of a member, if there is one.
pub fn optional(command: &Value, member: &str) -> Option<String> {
    command[member].as_str().map(str::to_string)
}

/// The value of an option such as `--url`.
pub fn option(args: &[String], name: &str) -> Option<String> {
    let at = args.iter().position(|arg| arg == name)?;
    args.get(at + 1).cloned()
}
