/** An MCP server over HTTP: the options that say where and for whom, and the port. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { settledWithin, untilAborted } from "../async/abortable.ts";
import { describeFileError, replacePrivateFile } from "../files/files.ts";
import type { Logger } from "../log.ts";
import type { AccessRule } from "../http/mcp/access.ts";
import type { AdmissionOptions, HttpHandler } from "../http/mcp/entrance.ts";
import { describeError } from "../text/text.ts";
import { isLoopback } from "../protocol/server_address.ts";
import { readTokenFile } from "./credentials.ts";
import { collect } from "./options.ts";
import { CommandFailedError, UsageError } from "./outcome.ts";
import { stateFile } from "../files/state_folder.ts";

export interface HttpPlace {
  readonly host: string;
  readonly port: number;
}

export interface HttpOptions {
  readonly http?: HttpPlace;
  readonly httpToken?: string;
  readonly httpTokenFile?: string;
  readonly noToken?: boolean;
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
}

/** Declares the options of a program whose variables begin with `prefix`, such as `A2C_GATEWAY`. Others need `--http`. */
export function declareHttp(
  program: Command,
  { prefix, paths, more = [] }: {
    readonly prefix: string;
    readonly paths: string;
    /** Further options that need `--http`. */
    readonly more?: readonly Option[];
  },
): void {
  const options = [
    new Option("--http <[host:]port>", `serve clients over HTTP, at ${paths}`)
      .argParser(parsePlace).env(`${prefix}_HTTP`),
    new Option("--http-token <token>", "the bearer token of clients over HTTP; prefer the variable or a file")
      .env(`${prefix}_TOKEN`),
    new Option(
      "--http-token-file <file>",
      "the file of that token, written when it is absent; by default one in your state folder",
    ).env(`${prefix}_TOKEN_FILE`),
    withoutToken(),
    new Option("--allow-host <name>", "a host name of this server besides localhost; can be repeated")
      .argParser(collect),
    new Option(
      "--allow-origin <origin>",
      "the origin of pages that may use it, such as https://app.example.com; can be repeated",
    ).argParser(collectOrigin),
    ...more,
  ];
  for (const option of options) program.addOption(option);
  program.hook("preAction", () => {
    const lost = options.find((each) => program.getOptionValueSource(each.attributeName()) === "cli");
    if (lost === undefined || program.getOptionValue("http") !== undefined) return;
    throw new UsageError(`Cannot use ${lost.long} without --http`);
  });
}

/** A flag of its own, and not the contrary of `--token`. */
function withoutToken(): Option {
  const option = new Option("--no-token", "admit every user and program of this machine over HTTP");
  option.negate = false;
  return option;
}

/** What a token protects, and where it is kept. */
export interface TokenPlace {
  /** The name of its file in the state folder, such as `gateway.token`. */
  readonly file: string;
  /** What others could use without it, such as `the office`. */
  readonly what: string;
  readonly logger: Logger;
  /** Admits clients with tokens of their own. Then one of the owner is accepted only where it is given. */
  readonly access?: AccessRule | undefined;
}

/**
 * Whom the options admit. Without a token among them, one is made and kept: other users reach the port, too.
 *
 * @throws {UsageError} the token cannot be read or kept, or other machines could do without.
 */
export async function admissionOf(
  options: HttpOptions & { readonly http: HttpPlace },
  place: TokenPlace,
): Promise<AdmissionOptions> {
  const { allowHost: allowedHosts, allowOrigin: allowedOrigins, httpToken, httpTokenFile } = options;
  const { access } = place;
  const isOwnerLeftOut = access !== undefined && httpToken === undefined && httpTokenFile === undefined;
  const token = isOwnerLeftOut ? undefined : await tokenOf(options, place);
  return { token, access, allowedHosts, allowedOrigins };
}

async function tokenOf(
  { http: { host }, httpToken, httpTokenFile, noToken = false }: HttpOptions & { readonly http: HttpPlace },
  { file, what, logger }: TokenPlace,
): Promise<string | undefined> {
  if (!noToken && httpToken !== undefined) return httpToken;
  if (!noToken) return await keptToken(httpTokenFile, { file, logger });
  if (!isLoopback(host)) {
    throw new UsageError(`Cannot listen on "${host}" with --no-token: other machines could use ${what}`);
  }
  logger.warn(`no token: every user and program of this machine can use ${what}`);
  return undefined;
}

/** The token of a file of this user; only this user can read one that is made here. It stays the same, so that clients need not be told another one. */
async function keptToken(
  given: string | undefined,
  { file, logger }: Pick<TokenPlace, "file" | "logger">,
): Promise<string> {
  const path = given ?? stateFile(file);
  if (path === undefined) {
    throw new UsageError(
      "Cannot keep a token for clients: no state folder; give --http-token-file or --no-token",
    );
  }
  const { state } = Deno.permissions.querySync({ name: "sys", kind: "uid" });
  const refuse = ({ uid, mode }: Deno.FileInfo) => {
    // Secrets of containers belong to root.
    if (state === "granted" && ![Deno.uid(), 0, null].includes(uid)) return "it belongs to another user";
    if (((mode ?? 0) & 0o077) === 0) return undefined;
    if (given === undefined) return "others can read or write it; delete it";
    logger.warn("others can read or write the token file; allow it to its owner alone", { file: path });
  };
  const token = await readTokenFile(path, { refuse }).catch((error: TypeError) => {
    if (error.cause instanceof Deno.errors.NotFound) return makeToken(path);
    throw new UsageError(error.message, { cause: error });
  });
  logger.info("clients need the token of this file", { file: path, header: "Authorization: Bearer TOKEN" });
  return token;
}

async function makeToken(path: string): Promise<string> {
  const token = crypto.getRandomValues(new Uint8Array(32)).toBase64({
    alphabet: "base64url",
    omitPadding: true,
  });
  try {
    await replacePrivateFile(path, `${token}\n`);
  } catch (cause) {
    throw new UsageError(`Cannot write token file "${path}": ${describeFileError(cause)}`, { cause });
  }
  return token;
}

function parsePlace(raw: string): HttpPlace {
  const [, host = "127.0.0.1", digits = ""] = /^(?:(\[[^\]]+\]|[^:]+):)?(\d{1,5})$/.exec(raw) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535) throw new InvalidArgumentError("Expected PORT or HOST:PORT");
  return { host, port };
}

function collectOrigin(raw: string, earlier: readonly string[] = []): string[] {
  if (URL.parse(raw)?.origin === raw) return collect(raw, earlier);
  throw new InvalidArgumentError("Expected an origin such as https://app.example.com, without a path");
}

/** How long requests that are being served may take at the end, in milliseconds. */
const SHUTDOWN_MS = 1_000;

/**
 * Listens until `signal` is aborted, and closes the handler. Connections whose requests have not ended end with the program.
 *
 * @throws {CommandFailedError | UsageError} the port is in use, or the address cannot be listened on.
 */
export async function listenOnHttp(
  handler: HttpHandler,
  { host, port, logger, signal }: HttpPlace & { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  await using _ = handler;
  const place = { hostname: host.replace(/^\[|\]$/g, ""), port };
  const server = listen(place, { handler: handler.fetch, logger });
  await untilAborted(signal);
  // Streams end first: a server that shuts down waits for them.
  await handler.close();
  // A client may never end its request: the program ends without it.
  await settledWithin(server.shutdown(), SHUTDOWN_MS);
}

function listen(
  place: { readonly hostname: string; readonly port: number },
  { handler, logger }: { readonly handler: HttpHandler["fetch"]; readonly logger: Logger },
): Deno.HttpServer {
  const onListen = ({ hostname, port }: Deno.NetAddr) => {
    const host = hostname.includes(":") ? `[${hostname}]` : hostname;
    logger.info("serving MCP clients", { url: `http://${host}:${port}/mcp` });
  };
  try {
    return Deno.serve({ ...place, onListen }, handler);
  } catch (cause) {
    const failed = `Cannot listen on "${place.hostname}:${place.port}"`;
    if (cause instanceof Deno.errors.AddrInUse) {
      const state = "the port is in use; choose another --http, or end the program that uses this one";
      throw new CommandFailedError(`${failed}: ${state}`);
    }
    throw new UsageError(`${failed}: ${describeError(cause)}`, { cause });
  }
}
