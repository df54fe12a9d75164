/**
 * Starts a driver of the reference Python SDK (`server.py`, `computer.py`, `agent.py`) as a child process and
 * speaks its JSON lines. Needs `--allow-run --allow-read`.
 *
 * ```ts ignore
 * Deno.test({ name: "…", ignore: interopPython() === undefined, fn: async () => {
 *   await using server = await PythonPeer.start("server");
 *   await using agent = await PythonPeer.start("agent", ["--url", String(server.ready.url), "--office", "o"]);
 *   await agent.command({ command: "list_room" });
 * } });
 * ```
 *
 * @module
 */

import { fromFileUrl } from "@std/path";
import { PeerError, PeerProcess, type WaitOptions } from "./peer_process.ts";

export { type PeerCommand, PeerError, type PeerEvent } from "./peer_process.ts";

/** The three drivers beside this file. */
export type DriverName = "server" | "computer" | "agent";

/** Path of the Python that has the reference SDK, or undefined when `install.sh` has not made one. */
export function interopPython(): string | undefined {
  return findPython().path;
}

/** Why the interop tests cannot run, or undefined when they can. */
export function interopSkipReason(): string | undefined {
  return findPython().reason;
}

function findPython(): { readonly path?: string; readonly reason?: string } {
  const venv = new URL("../../.venv-interop/", import.meta.url);
  const executable = Deno.build.os === "windows" ? "Scripts/python.exe" : "bin/python";
  const path = fromFileUrl(new URL(executable, venv));
  const wanted = readIfThere(new URL("./requirements.txt", import.meta.url));
  const installed = readIfThere(new URL("./installed-requirements.txt", venv));
  if (installed === undefined) {
    return { reason: "the reference Python SDK is not installed: run sh tests/interop/install.sh" };
  }
  if (installed !== wanted) {
    return { reason: "the installed reference SDK is not the pinned one: run sh tests/interop/install.sh" };
  }
  return { path };
}

function readIfThere(file: URL): string | undefined {
  try {
    return Deno.readTextFileSync(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** How to start a driver. */
export interface PythonPeerOptions extends WaitOptions {
  /** Another version of the SDK than that of `requirements.txt`, one of those that `install.sh` knows. */
  readonly version?: string;
}

/** One running driver of the Python SDK. */
export class PythonPeer extends PeerProcess {
  /** Starts a driver and waits until it is up; rejects with what it said when it does not come up. */
  static async start(
    driver: DriverName,
    args: readonly string[] = [],
    { version, ...options }: PythonPeerOptions = {},
  ): Promise<PythonPeer> {
    const command = interopPython();
    if (command === undefined) throw new PeerError(interopSkipReason() ?? "no Python");
    const peer = new PythonPeer({
      title: `the Python ${driver}${version === undefined ? "" : ` ${version}`}`,
      command,
      args: ["-B", "-u", `${driver}.py`, ...args],
      cwd: fromFileUrl(new URL(".", import.meta.url)),
      ...version === undefined ? {} : { env: { PYTHONPATH: packageFolder(version) } },
    });
    await peer.untilReady(options);
    return peer;
  }
}

/** Where `install.sh` puts a newer version of the SDK. */
function packageFolder(version: string): string {
  return fromFileUrl(new URL(`../../.venv-interop/a2c-smcp-${version}/`, import.meta.url));
}
