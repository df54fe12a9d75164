//! Our Server as a child process. The tests of the crates start it in place of their own.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

/// A Server that runs until it is dropped.
pub struct OurServer {
    pub addr: SocketAddr,
    pub url: String,
    child: Child,
}

impl OurServer {
    /// Starts the command in `A2C_SERVER`, words that a space separates, on a free port, and waits until it listens.
    pub fn start(options: &[&str]) -> Self {
        let words = std::env::var("A2C_SERVER").expect("A2C_SERVER names no command");
        let mut words = words.split(' ');
        let mut child = Command::new(words.next().expect("A2C_SERVER is empty"))
            .args(words)
            .args(["--port", "0"])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the Server does not start");
        let mut line = String::new();
        let output = child.stdout.take().expect("no standard output");
        BufReader::new(output).read_line(&mut line).expect("the Server prints nothing");
        let (_, addr) = line.trim().rsplit_once("http://").expect("the Server does not listen");
        let addr: SocketAddr = addr.parse().expect("no address");
        Self { addr, url: format!("http://{addr}"), child }
    }
}

impl Drop for OurServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
