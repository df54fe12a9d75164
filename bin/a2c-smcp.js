#!/usr/bin/env node
// Starts the program of its package by Deno: `a2c-smcp` of the npm package and of a clone, or `main.js` of the npm package of
// documents.
// Plain JavaScript for both Node and Deno, since on a machine without Deno it is Node that runs this file.

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);

/** The Deno that runs this file, else the one that npm installed along, else the one on the PATH. */
function findDeno() {
  if (process.versions.deno) return process.execPath;
  const system = process.platform;
  const name = `@deno/${system}-${process.arch}${system === "linux" ? "-glibc" : ""}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(manifest), system === "win32" ? "deno.exe" : "deno");
  } catch {
    if (spawnSync("deno", ["--version"], { stdio: "ignore" }).status === 0) return "deno";
  }
  fail("Deno is not installed. Install a2c-smcp without --omit=optional, or install Deno 2.9.6 or later");
}

function fail(reason) {
  console.error(`Cannot start a2c-smcp: ${reason}`);
  process.exit(1);
}

/** Deno's executables need the GNU C library, which Alpine and other systems with musl lack. */
function hasGnuLibrary() {
  return process.platform !== "linux" || process.versions.deno !== undefined ||
    process.report.getReport().header.glibcVersionRuntime !== undefined;
}

function pathOf(name) {
  return fileURLToPath(new URL(name, root));
}

if (!hasGnuLibrary()) {
  fail(
    "Deno does not run on this system, which has no GNU C library (Alpine?). Use an image of Debian, such as node:22-slim",
  );
}
const deno = findDeno();
const packaged = ["node_modules/@a2c-smcp/sdk/cli.js", "main.js"].map(pathOf).find((path) =>
  existsSync(path)
);
const program = packaged === undefined
  ? ["--config", pathOf("deno.json"), pathOf("cli.ts")]
  : ["--node-modules-dir=manual", packaged];
const args = ["run", "-A", ...program, ...process.argv.slice(2)];
// Authorities that a company adds are in the store of the system.
const stores = process.env.DENO_TLS_CA_STORE ?? "system,mozilla";
const env = { ...process.env, DENO_NO_UPDATE_CHECK: "1", DENO_TLS_CA_STORE: stores };

// SIGTERM to npx ends its shell alone: what that has started ends when its parent is another one.
const { npm_lifecycle_event: event, npm_lifecycle_script: script = "" } = process.env;
const shell = event === "npx" && script.includes("a2c-smcp") ? process.ppid : undefined;

// Where Node can, Deno takes the place of this process: nothing stands between it and its signals then.
if (process.execve && process.platform !== "win32" && !process.versions.deno && isAbsolute(deno)) {
  process.execve(deno, [deno, ...args], { ...env, A2C_LAUNCHER_PID: String(shell ?? "") });
}

// Where Node cannot, this process stays, and tells who it is: the program ends when its parent is another one.
const child = spawn(deno, args, { stdio: "inherit", env: { ...env, A2C_LAUNCHER_PID: String(process.pid) } });
if (shell !== undefined) setInterval(() => process.ppid === shell || process.exit(143), 500).unref();
// A terminal sends Ctrl-C to both processes; everything else sends its signal to this one alone.
process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  fail(`${deno}: ${error.message}`);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
