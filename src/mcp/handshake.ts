/** The opening of a session: which version of MCP a server speaks, and what it can do. */
import { isRecord } from "../json/json.ts";
import { PACKAGE_VERSION } from "../version.ts";
import { shorten } from "../text/text.ts";
import type { RequestLimits } from "./call_options.ts";
import {
  ConfigurationError,
  ServerAnswerError,
  ServerAuthorizationError,
  ServerNotRunningError,
  statusOf,
} from "./errors.ts";
import type { ResolvedServerConfig } from "../protocol/config.ts";
import { RpcErrorCode, SESSION_VERSIONS, STATELESS_VERSION, VERSION_MEMBER } from "../protocol/mcp.ts";
import type { RpcPeer } from "./rpc_peer.ts";

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

export interface Opening {
  readonly choice: EraChoice;
  /** The version with sessions; the newest by default. */
  readonly version?: string;
  /** Whether the server was asked otherwise before. */
  readonly isSecond?: boolean;
}

export interface HandshakeOptions extends RequestLimits, Opening {
  readonly capabilities: ClientCapabilities;
  /** How long a server may take to say which versions it speaks, before it is taken for one with sessions. */
  readonly askTimeoutMs: number;
}

/** Says that pages of MCP Apps can be shown. */
const MCP_APPS = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } as const;

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
    [VERSION_MEMBER]: STATELESS_VERSION,
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
  if (error instanceof ServerAnswerError && error.rpcCode !== RpcErrorCode.PARSE_ERROR) {
    if (error.rpcCode === RpcErrorCode.UNSUPPORTED_VERSION) throwWithoutCommonVersion(error);
    return "no";
  }
  if (error instanceof ServerAuthorizationError || error instanceof ConfigurationError) throw error;
  return isRefusal(error) ? "no" : "perhaps not";
}

/** Whether a server has refused a request. One that is too busy, or cannot be reached, has not. */
export function isRefusal(error: unknown): boolean {
  const httpStatus = statusOf(error) ?? (error instanceof ServerAnswerError ? 200 : 500);
  return httpStatus < 500 && httpStatus !== TOO_MANY_REQUESTS;
}

/** Throws when a refusal names the versions of its server, and none of them is spoken here. */
function throwWithoutCommonVersion(error: unknown): void {
  const { supported } = error instanceof ServerAnswerError && isRecord(error.rpcData) ? error.rpcData : {};
  if (Array.isArray(supported) && !supported.includes(STATELESS_VERSION)) assertCommonVersion(supported);
}

function assertCommonVersion(versions: readonly unknown[]): void {
  if (versions.some((version) => typeof version === "string" && SESSION_VERSIONS.includes(version))) return;
  const detail = shorten(versions.slice(0, 10).join(", "), MAX_VERSIONS_LENGTH);
  throw new ServerNotRunningError({ reason: "its versions of MCP are not supported", detail });
}

/** `initialize`, for the versions with sessions. */
async function initialize(
  peer: RpcPeer,
  { capabilities, timeoutMs, signal, version: asked = SESSION_VERSIONS[0] }: HandshakeOptions,
): Promise<Omit<Introduction, "isCertain">> {
  const params = { protocolVersion: asked, capabilities, clientInfo };
  const result = await peer.request({ method: "initialize", params }, { timeoutMs, signal }).catch(
    (error) => {
      throwWithoutCommonVersion(error);
      throw error;
    },
  );
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

/** Which versions a configuration asks for. HTTP with SSE has sessions in every version. */
export function choiceOf(config: ResolvedServerConfig): EraChoice {
  if (config.type === "sse") return "2025";
  return config.mcp_version ?? (config.type === "stdio" ? "2025" : "auto");
}

/**
 * How to open the session of a server another time after it failed; `undefined` when the failure has another reason. A
 * server may refuse a version and name those that it speaks, one that has sessions according to our memory may have none
 * any more, and a program with sessions may end at a question that it does not expect.
 */
export function nextOpening(
  { choice: asked, version: askedVersion, isSecond }: Opening,
  { choice, error, config }: {
    readonly choice: EraChoice;
    readonly error: unknown;
    readonly config: ResolvedServerConfig;
  },
): Opening | undefined {
  if (askedVersion !== undefined) return undefined;
  const named = namedVersions(error);
  const version = choice === "2026"
    ? undefined
    : SESSION_VERSIONS.slice(1).find((each) => named.includes(each));
  if (version !== undefined) return { choice: "2025", version };
  const maySwitch = asked === "2025" && config.type !== "sse" && config.mcp_version !== "2025";
  if (maySwitch && named.includes(STATELESS_VERSION)) return { choice: "2026", isSecond: true };
  if (choice !== "auto" || isSecond === true) return undefined;
  if (asked === "2025") return isRefusal(error) ? { choice: "auto", isSecond: true } : undefined;
  const hasEnded = config.type === "stdio" && error instanceof ServerNotRunningError;
  return hasEnded ? { choice: "2025", isSecond: true } : undefined;
}

/** The versions that a refusal names, in its data or in its words. */
function namedVersions(error: unknown): readonly string[] {
  const answered = error instanceof ServerAnswerError
    ? `${error.message} ${JSON.stringify(error.rpcData)}`
    : "";
  const refused = error instanceof ServerNotRunningError && error.httpStatus !== undefined
    ? error.detail
    : "";
  return `${answered} ${refused}`.match(/\b\d{4}-\d\d-\d\d\b/g) ?? [];
}

/** What this client can do for a server. */
export function capabilitiesOf({ elicitation, apps }: ResolvedServerConfig): ClientCapabilities {
  return {
    ...(elicitation === "decline" ? {} : { elicitation: { form: {}, url: {} } }),
    ...(apps === true ? { extensions: MCP_APPS } : {}),
  };
}
