/** The MCP servers of each Computer of the matrix: one for each transport, and one that refuses calls. */
import { fromFileUrl } from "@std/path";
import type { Message } from "../../fixtures/script.ts";
import { HttpMcpServer } from "../../fixtures/http_server.ts";
import { interopPython, interopSkipReason } from "../peer.ts";
import { PeerError } from "../peer_process.ts";

/** An MCP server as the SDKs of all languages write it in a configuration. */
export interface McpServerEntry {
  readonly name: string;
  readonly type: "stdio" | "streamable" | "sse";
  readonly [member: string]: unknown;
}

/** The running servers of one cell. */
export interface McpServers extends AsyncDisposable {
  readonly entries: readonly McpServerEntry[];
}

const SCHEMA = { type: "object", properties: {} };
/** Of the scripted servers; each Computer would otherwise list them several times. */
const CONTROL = ["become", "received"];
/** The MCP servers that refuse every call, and their HTTP status. A session of an SDK does not survive a refusal. */
export const LOCKED = { anonymous: 401, powerless: 403 } as const;

function toolNamed(name: string) {
  return { name, description: `The tool ${name}`, inputSchema: SCHEMA };
}

function saying(name: string) {
  return {
    tools: [toolNamed(name)],
    answers: { [`tools/call ${name}`]: { content: [{ type: "text", text: `${name} was called` }] } },
  };
}

/** A server that lists one tool, and refuses to call it. */
function lockedServer(name: string, status: number): HttpMcpServer {
  const intercept = ({ method }: Message) =>
    method === "tools/call" ? new Response("refused", { status }) : undefined;
  return new HttpMcpServer("streamable", { tools: [toolNamed(`${name}_open`)] }, { intercept });
}

/** Starts them: `windows` over stdio, `web` and those of `LOCKED` over Streamable HTTP, `old` over SSE. */
export function startMcpServers(): McpServers {
  const command = interopPython();
  if (command === undefined) throw new PeerError(interopSkipReason() ?? "no Python");
  const args = ["-B", fromFileUrl(new URL("../windows_server.py", import.meta.url))];
  const opened = new AsyncDisposableStack();
  const web = opened.use(new HttpMcpServer("streamable", saying("web_echo")));
  const old = opened.use(new HttpMcpServer("sse", saying("old_echo")));
  const locked = Object.entries(LOCKED).map(([name, status]) => ({
    name,
    type: "streamable" as const,
    ...withoutControl(opened.use(lockedServer(name, status))),
  }));
  return {
    entries: [
      {
        name: "windows",
        type: "stdio",
        server_parameters: { command, args },
        default_tool_meta: { auto_apply: true },
      },
      { name: "web", type: "streamable", ...withoutControl(web) },
      // The tool `become` of this one changes its list of tools.
      { name: "old", type: "sse", ...old.config(), forbidden_tools: ["received"] },
      ...locked,
    ],
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function withoutControl(server: HttpMcpServer) {
  return { ...server.config(), forbidden_tools: CONTROL };
}
