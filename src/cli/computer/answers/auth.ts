/** `auth login|status|logout` */
import type { SignInStatus } from "../../../mcp/auth/sign_in.ts";
import { isServiceGrant, type MCPServerConfig, oauthOf } from "../../../protocol/config.ts";
import { toSafeLine, toSeenWord } from "../../../text/safe_text.ts";
import type { Palette } from "../../../terminal/screen.ts";
import { alignColumns } from "../../../terminal/shapes.ts";
import { unknownName } from "../../../text/spelling.ts";
import { describeError } from "../../../text/text.ts";
import { colored, type CommandAnswer } from "../../answers/answer.ts";
import { UsageError } from "../../outcome.ts";
import { loginCommand, serverStatusText } from "../../program.ts";
import { logIn } from "../auth/login.ts";
import type { CommandContext, HostedComputer } from "../hosted_computer.ts";
import { tokenFile } from "../state_files.ts";
import { stateText } from "./servers.ts";
import type { InputSource } from "../../../computer/inputs/sources.ts";
import { type ComputerSignIns, openSignIns } from "../../../computer/sign_ins.ts";
import { MASK } from "../../../computer/secrets/masking.ts";
import { withModule } from "../../../log.ts";

export interface LoginFlags {
  readonly port?: number;
  readonly device?: true;
  readonly open: boolean;
}

/** Signs in at a server. While it waits, it tells what to do; a running Computer then starts the server. */
export async function login(
  { hosted, signal, conversation, progress }: CommandContext,
  { name, flags }: { readonly name: string; readonly flags: LoginFlags },
): Promise<CommandAnswer> {
  serverOf(hosted, name);
  const signIns = signInsOf(hosted);
  progress(`signing in at ${name}`);
  const kind = await logIn(signIns, { ...flags, server: name, conversation, signal });
  const status = await signIns.status(name, { signal });
  const how = kind === "service"
    ? `MCP server "${name}" needs no sign-in by a person; the client credentials work`
    : `signed in at MCP server "${name}"`;
  const text = [`${how} (${detailsOf(status)})`, ...await startedLines(hosted, { name, signal })].join("\n");
  const state = hosted.isStarted ? hosted.computer.servers.get(name)?.status : undefined;
  return {
    value: { type: "signed_in", ...toJson(name, "signed in", status), status: state },
    text,
    isLine: true,
    warning: tokenFile() === undefined ? NOT_KEPT : undefined,
    // The MCP server refuses the token that its authorization server gave.
    failure: state === "needs sign-in" ? text : undefined,
  };
}

const NOT_KEPT = "the sign-in ends with this process, because it may not keep tokens " +
  "(--allow-read and --allow-write, and HOME or XDG_STATE_HOME in its environment)";

/** What a running Computer does with the server; nothing without one. */
async function startedLines(
  hosted: HostedComputer,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): Promise<string[]> {
  if (!hosted.isStarted) return [];
  const status = hosted.computer.servers.get(name)?.status;
  if (status === "stopped") return [];
  // It would notice by itself, a moment later.
  if (status !== "running") hosted.computer.restartServer(name);
  using _awaited = hosted.awaitServer(name);
  await hosted.computer.ready({ servers: [name], signal }).catch(() => {});
  return [stateText(hosted, name)];
}

/** Forgets the tokens of a server, and has them revoked where the authorization server offers that. */
export async function logout(
  { hosted, signal }: CommandContext,
  { name }: { readonly name: string },
): Promise<CommandAnswer> {
  serverOf(hosted, name);
  const { wasSignedIn, isRevoked } = await signInsOf(hosted).signOut(name, { signal });
  const how = isRevoked
    ? "the authorization server has revoked the tokens"
    : "the tokens are forgotten here; the authorization server did not revoke all of them";
  const text = wasSignedIn
    ? `signed out of MCP server "${name}": ${how}`
    : `not signed in at MCP server "${name}", so there is nothing to forget`;
  return { value: { name, was_signed_in: wasSignedIn, revoked: isRevoked }, text };
}

type Standing = "signed in" | "needs sign-in" | "signed out" | "not OAuth" | "unknown";

interface ServerRow {
  readonly name: string;
  readonly standing: Standing;
  readonly status?: SignInStatus | undefined;
  readonly remark?: string | undefined;
}

/** Shows each server's sign-in, as far as it is known here; asks no server. */
export async function showSignIns(
  { hosted, signal }: CommandContext,
  { name }: { readonly name?: string | undefined },
): Promise<CommandAnswer> {
  const { servers } = hosted.store.config;
  const chosen = name === undefined ? servers : [serverOf(hosted, name)];
  const rows = await Promise.all(chosen.map((server) => rowOf(server, { hosted, signal })));
  const [only] = rows;
  const isWanting = name !== undefined && only?.standing === "needs sign-in";
  const hints = rows.filter(({ standing }) => standing === "needs sign-in" && name === undefined)
    .map((row) => `run ${loginCommand(row.name)} to sign in`);
  return {
    value: { servers: rows.map((row) => toJson(row.name, row.standing, row.status, row.remark)) },
    ...colored((palette) => [signInsText(rows, palette), ...hints].join("\n")),
    failure: isWanting ? serverStatusText(name, "needs sign-in") : undefined,
  };
}

async function rowOf(
  server: MCPServerConfig,
  { hosted, signal }: { readonly hosted: HostedComputer; readonly signal: AbortSignal },
): Promise<ServerRow> {
  const { name } = server;
  const remark = whyNotOAuth(server);
  if (remark !== undefined) return { name, standing: "not OAuth", remark };
  try {
    const status = await knownSignInsOf(hosted).status(name, { signal });
    const standing = standingOf(status, server, hosted);
    return { name, standing, status, remark: remarkOn(status, server, standing) };
  } catch (error) {
    signal.throwIfAborted();
    return { name, standing: "unknown", remark: describeError(error) };
  }
}

function remarkOn(status: SignInStatus, server: MCPServerConfig, standing: Standing): string | undefined {
  if (isService(server)) {
    return status.state === "signed in" ? undefined : "a service, which gets tokens by itself";
  }
  if (standing === "not OAuth") return "runs without a sign-in";
  const isUnused = standing === "signed out" && status.issuer === undefined;
  return isUnused ? "needs no sign-in, as far as is known here" : undefined;
}

function whyNotOAuth(server: MCPServerConfig): string | undefined {
  if (server.type === "stdio") return "a program";
  if (oauthOf(server) === false) return '"oauth" is false';
  const names = Object.keys(server.server_parameters.headers ?? {});
  const isGiven = names.some((each) => each.toLowerCase() === "authorization");
  return isGiven ? 'has an "Authorization" header' : undefined;
}

function standingOf(status: SignInStatus, server: MCPServerConfig, hosted: HostedComputer): Standing {
  const state = hosted.isStarted ? hosted.computer.servers.get(server.name)?.status : undefined;
  if (state === "needs sign-in") return "needs sign-in";
  if (status.state === "signed in") return "signed in";
  if (isService(server)) return "signed out";
  if (status.state === "expired") return "needs sign-in";
  if (state === "running" && status.issuer === undefined) return "not OAuth";
  // Without a running Computer, only a configured sign-in is known to be needed.
  return oauthOf(server) === undefined ? "signed out" : "needs sign-in";
}

function isService(server: MCPServerConfig): boolean {
  const oauth = oauthOf(server);
  return typeof oauth === "object" && isServiceGrant(oauth);
}

function signInsText(rows: readonly ServerRow[], { strong, alarm, faint }: Palette): string {
  if (rows.length === 0) return "no MCP servers";
  const cells = rows.map(({ name, standing, status, remark }) => [
    toSeenWord(name),
    standing,
    toSafeLine(remark ?? (status === undefined ? "" : detailsOf(status))),
  ]);
  const paint = (cell: string, column: number) => {
    if (column === 0) return strong(cell);
    if (column === 1 && cell.trim() === "needs sign-in") return alarm(cell);
    return column === 1 && cell.trim() === "signed in" ? cell : faint(cell);
  };
  return alignColumns(cells, { paint }).join("\n");
}

/** `https://auth.example.com; scopes read, write; ends in 59 min, is renewed` */
function detailsOf({ issuer, state, scopes, missingScopes, expiresAtMs, isRenewable }: SignInStatus): string {
  const parts = [
    issuer ?? "not signed in",
    ...(scopes.length === 0 ? [] : [`scopes ${scopes.join(", ")}`]),
    ...(missingScopes.length === 0 ? [] : [`lacks scopes ${missingScopes.join(", ")}`]),
    ...(state === "signed out" ? [] : [endText(expiresAtMs, isRenewable)]),
  ];
  return parts.join("; ");
}

function endText(expiresAtMs: number | undefined, isRenewable: boolean): string {
  if (expiresAtMs === undefined) return "the end is unknown";
  const leftMs = expiresAtMs - Date.now();
  if (leftMs <= 0) return isRenewable ? "is renewed at the next request" : "has ended";
  return `${isRenewable ? "is renewed" : "ends"} in ${durationText(leftMs)}`;
}

function durationText(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2 * 24 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1_440)} days`;
}

function toJson(
  name: string,
  state: Standing,
  status?: SignInStatus,
  remark?: string,
): Record<string, unknown> {
  const { issuer, resource, clientId, scopes, missingScopes, expiresAtMs, isRenewable, signedInAtMs } =
    status ?? {};
  return {
    name,
    state,
    remark,
    resource,
    issuer,
    client_id: clientId,
    scopes,
    missing_scopes: missingScopes,
    expires_at: toDate(expiresAtMs),
    renewable: isRenewable,
    signed_in_at: toDate(signedInAtMs),
  };
}

function toDate(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms);
}

function serverOf({ store }: HostedComputer, name: string): MCPServerConfig {
  const { servers } = store.config;
  const server = servers.find((each) => each.name === name);
  if (server !== undefined) return server;
  throw new UsageError(unknownName("server", name, servers.map((each) => each.name)));
}

function signInsOf(hosted: HostedComputer): ComputerSignIns {
  if (hosted.isStarted) return hosted.computer.signIns;
  const { tokens, logger, inputs } = hosted.options;
  const { config } = hosted.store;
  return openSignIns({ config, inputs: inputs.source, tokens, log: withModule(logger, "mcp") });
}

/** The same for a look at what is known: nobody is asked for an input, on which little of that depends. */
function knownSignInsOf(hosted: HostedComputer): ComputerSignIns {
  const { tokens, logger } = hosted.options;
  const inputs: InputSource = async (_id, { input }) => await hosted.peekInput(input) ?? MASK;
  return openSignIns({ config: hosted.store.config, inputs, tokens, log: withModule(logger, "mcp") });
}
