/** The opening of a session: which version of MCP a server speaks, and what it can do. */
import { isRecord } from "../json.ts";
import { PACKAGE_VERSION } from "../version.ts";
import { shorten } from "../text.ts";
import type { RequestLimits } from "./call_options.ts";
import {
  ConfigurationError,
  ServerAnswerError,
  ServerAuthorizationError,
  ServerNotRunningError,
} from "./errors.ts";
import type { RpcPeer } from "./rpc_peer.ts";

/** The versions with sessions, which `initialize` opens; the newest first. */
const SESSION_VERSIONS: readonly string[] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];
/** The version without sessions. */
const STATELESS_VERSION = "2026-07-28";
/** The code of an answer to a request of a version that the server does not speak. */
const UNSUPPORTED_VERSION = -32022;
/** The HTTP status of a server that is too busy to answer. */
const TOO_MANY_REQUESTS = 429;

/** The length to which the versions that a server names are cut, in characters. */
const MAX_VERSIONS_LENGTH = 200;

/** The two kinds of versions: with sessions (2025-11-25 and before), and without (2026-07-28). */
export type Era = "2025" | "2026";

/** How to find out which of them a server speaks. `auto` asks for 2026 first. */
export type EraChoice = Era | "auto";

/** What a server said about itself; only the version is checked. */
export interface Introduction {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Name, title and version of its program. */
  readonly serverInfo?: unknown;
  /** How to use it, for the model. */
  readonly instructions?: unknown;
  /** Whether the server itself said which it speaks, so that this may be remembered. */
  readonly isCertain: boolean;
}

/** What this client announces. Sampling, roots and logging are deprecated, and declined. */
export interface ClientCapabilities {
  readonly elicitation?: { readonly form: Record<string, never>; readonly url: Record<string, never> };
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** How to open a session. */
export interface HandshakeOptions extends RequestLimits {
  readonly choice: EraChoice;
  readonly capabilities: ClientCapabilities;
  /** How long a server may take to say which versions it speaks, before it is taken for one with sessions. */
  readonly askTimeoutMs: number;
}

const clientInfo = { name: "a2c-smcp", version: PACKAGE_VERSION } as const;

/**
 * Opens a session.
 *
 * @throws {ServerNotRunningError} when the server speaks no version that this client speaks.
 */
export async function shakeHands(peer: RpcPeer, options: HandshakeOptions): Promise<Introduction> {
  if (options.choice === "2025") return { ...await initialize(peer, options), isCertain: true };
  const asked = await ask(peer, options);
  if (typeof asked !== "string") return asked;
  if (options.choice === "2026") {
    throw new ServerNotRunningError({ reason: `it does not speak MCP ${STATELESS_VERSION}` });
  }
  return { ...await initialize(peer, options), isCertain: asked === "no" };
}

/** Asks with `server/discover`; resolves to "no" when the server says that it speaks no such version, "perhaps not" without its word. */
async function ask(peer: RpcPeer, options: HandshakeOptions): Promise<Introduction | "no" | "perhaps not"> {
  const { timeoutMs, askTimeoutMs, signal, capabilities, choice } = options;
  peer.goStateless({
    "io.modelcontextprotocol/protocolVersion": STATELESS_VERSION,
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  });
  try {
    const limits = { timeoutMs: choice === "2026" ? timeoutMs : Math.min(timeoutMs, askTimeoutMs), signal };
    const result = await peer.request({ method: "server/discover", params: {} }, limits);
    const versions = result["supportedVersions"];
    if (Array.isArray(versions) && versions.includes(STATELESS_VERSION)) {
      peer.setProtocolVersion(STATELESS_VERSION);
      return { ...toIntroduction("2026", STATELESS_VERSION, result), isCertain: true };
    }
    if (Array.isArray(versions)) assertCommonVersion(versions);
    peer.goStateless(undefined);
    return "no";
  } catch (error) {
    peer.goStateless(undefined);
    signal?.throwIfAborted();
    return toVerdict(error);
  }
}

/** A server of 2025 may refuse the question with any code, with an HTTP status, or not answer at all. */
function toVerdict(error: unknown): "no" | "perhaps not" {
  if (error instanceof ServerAnswerError) {
    if (error.rpcCode === UNSUPPORTED_VERSION && isRecord(error.rpcData)) {
      const { supported } = error.rpcData;
      if (Array.isArray(supported)) assertCommonVersion(supported);
    }
    return "no";
  }
  if (error instanceof ServerAuthorizationError || error instanceof ConfigurationError) throw error;
  return isRefusal(error) ? "no" : "perhaps not";
}

/** Whether a server has refused a request. One that is too busy, or cannot be reached, has not. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof ServerAnswerError) return true;
  const { httpStatus = 500 } = error instanceof ServerNotRunningError ? error : {};
  return httpStatus < 500 && httpStatus !== TOO_MANY_REQUESTS;
}

function assertCommonVersion(versions: readonly unknown[]): void {
  if (versions.some((version) => typeof version === "string" && SESSION_VERSIONS.includes(version))) return;
  const detail = shorten(versions.slice(0, 10).join(", "), MAX_VERSIONS_LENGTH);
  throw new ServerNotRunningError({ reason: "its versions of MCP are not supported", detail });
}

/** `initialize`, for the versions with sessions. */
async function initialize(
  peer: RpcPeer,
  { capabilities, timeoutMs, signal }: HandshakeOptions,
): Promise<Omit<Introduction, "isCertain">> {
  const params = { protocolVersion: SESSION_VERSIONS[0], capabilities, clientInfo };
  const result = await peer.request({ method: "initialize", params }, { timeoutMs, signal });
  const { protocolVersion: version } = result;
  if (typeof version !== "string" || !SESSION_VERSIONS.includes(version)) {
    throw new ServerNotRunningError({
      reason: "its version of MCP is not supported",
      detail: shorten(String(version), MAX_VERSIONS_LENGTH),
    });
  }
  peer.setProtocolVersion(version);
  await peer.notify("notifications/initialized");
  return toIntroduction("2025", version, result);
}

function toIntroduction(
  era: Era,
  version: string,
  { capabilities, serverInfo, instructions, _meta: meta }: Readonly<Record<string, unknown>>,
): Omit<Introduction, "isCertain"> {
  return {
    era,
    version,
    capabilities: isRecord(capabilities) ? capabilities : {},
    serverInfo: serverInfo ?? (isRecord(meta) ? meta["io.modelcontextprotocol/serverInfo"] : undefined),
    instructions,
  };
}
