/** Which identity an MCP server has from protocol 0.3 on (`docs/protocol/versions.md#bundle-ids`). Pure. */
import { createHash } from "node:crypto";
import type { MCPServerConfig } from "../protocol/config.ts";

/** How many bytes of the digest a made-up identity has. */
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
  const digest = createHash("sha256").update(frameOf(config)).digest().subarray(0, DIGEST_BYTES);
  return `bundle_${digest.toString("hex")}`;
}

/** What identifies a server without a usable name, each part behind its length. */
function frameOf(config: MCPServerConfig): Uint8Array {
  if (config.type === "stdio") {
    const { command, args, env } = config.server_parameters;
    return joined([
      toText("stdio"),
      toText(command),
      toCount(args.length),
      ...args.map(toText),
      ...toMap(env),
    ]);
  }
  const { url, headers } = config.server_parameters;
  return joined([toText(config.type), toText(url), ...toMap(headers)]);
}

function toText(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  return joined([toCount(bytes.length), bytes]);
}

function toMap(values: Readonly<Record<string, unknown>> | null): Uint8Array[] {
  // In the order of UTF-8, which differs from that of UTF-16 beyond U+FFFF.
  const entries = Object.entries(values ?? {}).map(([key, value]) =>
    [toText(key), toText(String(value))] as const
  )
    .toSorted(([a], [b]) => compareTexts(a, b));
  return [toCount(entries.length), ...entries.flat()];
}

/** Compares two framed texts by their bytes, without the lengths in front. */
function compareTexts(a: Uint8Array, b: Uint8Array): number {
  for (let at = 4; at < Math.min(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function toCount(count: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, count);
  return bytes;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The MCP servers of a configuration by identity. */
export interface IdentifiedServers {
  /** The servers that run, in order of precedence, by identity. */
  readonly byId: ReadonlyMap<string, MCPServerConfig>;
  /** The servers that do not run, because an earlier one has their identity. */
  readonly leftOut: readonly LeftOutServer[];
}

/** A server that does not run, and why. */
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
