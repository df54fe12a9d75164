/** MCP servers to start, from those that cost nothing to those that people use. */
import { fromFileUrl } from "@std/path";
import { EVERYTHING } from "../../examples/everything_servers.ts";
import type { ServerCommand } from "../fixtures/bare_client.ts";

const ECHO = fromFileUrl(new URL("../fixtures/echo_server.ts", import.meta.url));

/** A shell that waits, as a server does that first asks something of the network, and answers what a start asks. */
const WAITING = `
sleep "$1"
while read -r line; do
  id=$(expr "$line" : '.*"id":\\([0-9]*\\)')
  case $line in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"w","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"wait","inputSchema":{"type":"object"}}]}' ;;
    *) result='{}' ;;
  esac
  [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
done`;

/** The least of a program in Deno. */
export function echoServer(env: Readonly<Record<string, string>> = {}): ServerCommand {
  return { command: Deno.execPath(), args: ["run", "-A", "--no-config", "--quiet", ECHO], env };
}

/** The public server-everything from npm. */
export function everythingServer(env: Readonly<Record<string, string>> = {}): ServerCommand {
  return {
    command: Deno.execPath(),
    args: ["run", "-A", "--no-config", "--no-lock", "--quiet", EVERYTHING],
    env,
  };
}

/** A server that does nothing for so many seconds and then is there. */
export function waitingServer(seconds: number): ServerCommand {
  return { command: "sh", args: ["-c", WAITING, "sh", String(seconds)] };
}

/** A folder for `DENO_DIR` that holds what was downloaded and nothing that was compiled. */
export async function freshDenoDir(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "cold-" });
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  const { npmCache, registryCache } = JSON.parse(new TextDecoder().decode(stdout));
  for (const [folder, name] of [[npmCache, "npm"], [registryCache, "registries"]]) {
    await Deno.symlink(folder, `${path}/${name}`).catch(() => {});
  }
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
