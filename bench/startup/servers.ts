/** MCP servers to start, from minimal ones to one that is published on npm. */
import { fromFileUrl } from "@std/path";
import { EVERYTHING } from "../../examples/everything_servers.ts";
import type { ServerCommand } from "../fixtures/bare_client.ts";

const ECHO = fromFileUrl(new URL("../fixtures/echo_server.ts", import.meta.url));

/** A shell script that waits, like a server that first needs the network, and then answers the requests of a start. */
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

/** A minimal MCP server in Deno. */
export function echoServer(env: Readonly<Record<string, string>> = {}): ServerCommand {
  return { command: Deno.execPath(), args: ["run", "-A", "--no-config", "--quiet", ECHO], env };
}

/** `server-everything` from npm. */
export function everythingServer(env: Readonly<Record<string, string>> = {}): ServerCommand {
  return {
    command: Deno.execPath(),
    args: ["run", "-A", "--no-config", "--no-lock", "--quiet", EVERYTHING],
    env,
  };
}

/** A server that waits for this number of seconds before it answers. */
export function waitingServer(seconds: number): ServerCommand {
  return { command: "sh", args: ["-c", WAITING, "sh", String(seconds)] };
}

/** A folder for `DENO_DIR` that contains the downloads but no compile cache. */
export async function freshDenoDir(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "cold-" });
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  const { npmCache, registryCache } = JSON.parse(new TextDecoder().decode(stdout));
  for (const [folder, name] of [[npmCache, "npm"], [registryCache, "registries"]]) {
    await Deno.symlink(folder, `${path}/${name}`).catch(() => {});
  }
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
