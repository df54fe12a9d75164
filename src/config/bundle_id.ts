/** Which identity an MCP server has from protocol 0.3 on (`docs/protocol/versions.md#bundle-ids`). Pure. */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { MCPServerConfig } from "../protocol/config.ts";

const DIGEST_BYTES = 8;

/**
 * The identity of an MCP server: its `bundle_id`, or else derived from its name, or from how it is reached where the name
 * has no usable character. Placeholders count as they are written, so that an identity does not depend on their values.
 */
export function bundleIdOf(config: MCPServerConfig): string {
  const { bundle_id, name } = config;
  if (typeof bundle_id === "string") return bundle_id;
  const derived = name.replace(/[^A-Za-z0-9_-]/gu, "_").replace(/_+/g, "_").replace(/^[_-]+|[_-]+$/g, "");
  if (derived !== "") return derived;
  const hash = createHash("sha256");
  for (const part of frameOf(config)) hash.update(part);
  return `bundle_${hash.digest().subarray(0, DIGEST_BYTES).toString("hex")}`;
}

/** What identifies a server without a usable name, in parts: each text behind its length, each list behind its count. */
function* frameOf({ type, server_parameters }: MCPServerConfig): Generator<Uint8Array> {
  yield* frameOfText(type);
  if ("command" in server_parameters) {
    const { command, args, env } = server_parameters;
    yield* frameOfText(command);
    yield frameOfCount(args.length);
    for (const arg of args) yield* frameOfText(arg);
    yield* frameOfMap(env);
  } else {
    yield* frameOfText(server_parameters.url);
    yield* frameOfMap(server_parameters.headers);
  }
}

function* frameOfText(text: string): Generator<Uint8Array> {
  const bytes = Buffer.from(text);
  yield frameOfCount(bytes.length);
  yield bytes;
}

function* frameOfMap(values: Readonly<Record<string, unknown>> | null): Generator<Uint8Array> {
  // In the order of UTF-8, which differs from that of UTF-16 beyond U+FFFF.
  const entries = Object.entries(values ?? {})
    .toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  yield frameOfCount(entries.length);
  for (const [key, value] of entries) {
    yield* frameOfText(key);
    yield* frameOfText(String(value));
  }
}

function frameOfCount(count: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(count);
  return bytes;
}

export interface IdentifiedServers {
  /** The servers that run, in order of precedence, by identity. */
  readonly byId: ReadonlyMap<string, MCPServerConfig>;
  /** The servers that do not run, because an earlier one has their identity. */
  readonly leftOut: readonly LeftOutServer[];
}

export interface LeftOutServer {
  readonly server: MCPServerConfig;
  /** The end of `server "files" …`, with what to do. */
  readonly reason: string;
}

/** Gives each MCP server its identity; of several with the same one, the first runs. */
export function identifyServers(servers: readonly MCPServerConfig[]): IdentifiedServers {
  const byId = new Map<string, MCPServerConfig>();
  const leftOut: LeftOutServer[] = [];
  for (const server of servers) {
    const id = bundleIdOf(server);
    const first = byId.get(id);
    if (first === undefined) byId.set(id, server);
    else {
      const reason = `is left out: its bundle_id "${id}" is that of server "${first.name}"; ` +
        `give one of them another "bundle_id"`;
      leftOut.push({ server, reason });
    }
  }
  return { byId, leftOut };
}
