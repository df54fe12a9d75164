/**
 * Starts the driver of the official Rust SDK (`rust/`), which `install_rust.sh` builds. Needs `--allow-run --allow-read`.
 *
 * @module
 */

import { fromFileUrl } from "@std/path";
import { PeerError, PeerProcess } from "./peer_process.ts";

/** The three roles of the driver. */
export type RustRole = "server" | "computer" | "agent";

/** Why the tests with the Rust SDK cannot run, or `undefined` when they can. */
export function rustSkipReason(): string | undefined {
  if (rustPeer() !== undefined) return undefined;
  return "the driver of the Rust SDK is not built, which takes minutes: run sh tests/interop/install_rust.sh";
}

function rustPeer(): string | undefined {
  const name = Deno.build.os === "windows" ? "rust-peer.exe" : "rust-peer";
  const path = fromFileUrl(new URL(`../../.interop-rust/debug/${name}`, import.meta.url));
  try {
    return Deno.statSync(path).isFile ? path : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Starts a role and waits until it is up; rejects with what it said when it does not come up. */
export function startRustPeer(role: RustRole, args: readonly string[] = []): Promise<PeerProcess> {
  const command = rustPeer();
  if (command === undefined) return Promise.reject(new PeerError(rustSkipReason() ?? "no Rust"));
  return PeerProcess.startProgram({ title: `the Rust ${role}`, command, args: [role, ...args] });
}
