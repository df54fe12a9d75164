/** Starts the drivers of the Rust SDK (`rust/src/main.rs`) and speaks their JSON lines. Needs `--allow-run --allow-read`. */
import { fromFileUrl } from "@std/path";
import { PeerError, PeerProcess } from "./peer_process.ts";

const root = new URL("../../", import.meta.url);
const program = fromFileUrl(new URL(".interop-rust/debug/rust-peers", root));

/** Starts one of the roles, after `install_rust.ts` has built the drivers. */
export function startRustPeer(role: string, args: readonly string[]): Promise<PeerProcess> {
  if (!isBuilt()) throw new PeerError(`Cannot start the Rust ${role}: ${program} is not there`);
  return PeerProcess.startProgram({ title: `the Rust ${role}`, command: program, args: [role, ...args] });
}

function isBuilt(): boolean {
  try {
    return Deno.statSync(program).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
