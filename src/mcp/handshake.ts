/** The opening of a session: which version of MCP a server speaks, and what it can do. */
import { isRecord } from "../json.ts";
import { PACKAGE_VERSION } from "../version.ts";
import type { RequestLimits } from "./call_options.ts";
import { ServerNotRunningError } from "./errors.ts";
import type { RpcPeer } from "./rpc_peer.ts";

/** The versions with the `initialize` handshake, the newest first. */
const SESSION_VERSIONS: readonly string[] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];

/** What this client announces: sampling, roots and logging are deprecated, and declined. */
export const CLIENT_CAPABILITIES = { elicitation: { form: {}, url: {} } } as const;

/** How this client names itself. */
export const CLIENT_INFO = { name: "a2c-smcp", version: PACKAGE_VERSION } as const;

/** What a server said about itself; only the version is checked. */
export interface Introduction {
  readonly version: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Name, title and version of its program. */
  readonly serverInfo?: unknown;
  /** How to use it, for the model. */
  readonly instructions?: unknown;
}

/**
 * Initializes a session of 2025-11-25 or before.
 *
 * @throws {ServerNotRunningError} when the server speaks another version.
 */
export async function initialize(peer: RpcPeer, limits: RequestLimits): Promise<Introduction> {
  const [protocolVersion] = SESSION_VERSIONS;
  const params = { protocolVersion, capabilities: CLIENT_CAPABILITIES, clientInfo: CLIENT_INFO };
  const result = await peer.request({ method: "initialize", params }, limits);
  const { protocolVersion: version, capabilities, serverInfo, instructions } = result;
  if (typeof version !== "string" || !SESSION_VERSIONS.includes(version)) {
    throw new ServerNotRunningError({
      reason: "its version of MCP is not supported",
      detail: String(version),
    });
  }
  peer.setProtocolVersion(version);
  await peer.notify("notifications/initialized");
  return { version, capabilities: isRecord(capabilities) ? capabilities : {}, serverInfo, instructions };
}
