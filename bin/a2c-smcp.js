#!/usr/bin/env node
// Starts the program of its package by Deno: `cli.ts`, which is `a2c-smcp` on the PATH, after an installation by npm or by
// `deno install`; or `main.js` of the npm package of documents.
// Plain JavaScript for both Node and Deno, since on a machine without Deno it is Node that runs this file.

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { isAbsolute } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);

/** The Deno that runs this file, else the one that npm installed along, else the one on the PATH. */
function findDeno() {
  if (process.versions.deno) return process.execPath;
  try {
    // The executable itself, not the package's own launcher: that would be one more process between.
    return createRequire(import.meta.url)("deno/install_api.cjs").runInstall();
  } catch {
    if (spawnSync("deno", ["--version"], { stdio: "ignore" }).status === 0) return "deno";
  }
  console.error(
    `Cannot start a2c-smcp: Deno is not installed. Run "npm install" in ${fileURLToPath(root)}, ` +
      "or install Deno 2.9.6 or later",
  );
  process.exit(1);
}

function pathOf(name) {
  return fileURLToPath(new URL(name, root));
}

const deno = findDeno();
const program = existsSync(pathOf("cli.ts"))
  ? ["--config", pathOf("deno.json"), pathOf("cli.ts")]
  : [pathOf("main.js")];
const args = ["run", "-A", ...program, ...process.argv.slice(2)];
const env = { ...process.env, DENO_NO_UPDATE_CHECK: "1" };

// Where Node can, Deno takes the place of this process: nothing stands between it and its signals then.
if (process.execve && process.platform !== "win32" && !process.versions.deno && isAbsolute(deno)) {
  process.execve(deno, [deno, ...args], env);
}

// Where Node cannot, this process stays, and tells who it is: the program ends when its parent is another one.
const child = spawn(deno, args, { stdio: "inherit", env: { ...env, A2C_LAUNCHER_PID: String(process.pid) } });
// A terminal sends Ctrl-C to both processes; everything else sends its signal to this one alone.
process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`Cannot start "${deno}": ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
