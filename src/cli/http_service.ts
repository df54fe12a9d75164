/** An MCP server over HTTP: the options that say where and for whom, and the port. */
import { InvalidArgumentError, Option } from "commander";
import { settledWithin, untilAborted } from "../async/abortable.ts";
import type { Logger } from "../log.ts";
import type { AdmissionOptions } from "../streamable_http/admission.ts";
import type { HttpHandler } from "../streamable_http/entrance.ts";
import { describeError } from "../text.ts";
import { collect } from "./options.ts";
import { UsageError } from "./outcome.ts";

/** Where an MCP server listens: a host and a port, 0 for any free one. */
export interface HttpPlace {
  readonly host: string;
  readonly port: number;
}

/** The options as given. */
export interface HttpOptions {
  readonly http?: HttpPlace;
  readonly httpToken?: string;
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
}

/** Declares the options of a program whose variables begin with `prefix`, such as `A2C_GATEWAY`. */
export function httpOptions({ prefix, paths }: {
  readonly prefix: string;
  /** The paths that are served, for the help. */
  readonly paths: string;
}): Option[] {
  return [
    new Option("--http <[host:]port>", `serve clients over HTTP, at ${paths}`)
      .argParser(parsePlace).env(`${prefix}_HTTP`),
    new Option("--http-token <token>", "the bearer token of clients over HTTP; prefer the variable")
      .env(`${prefix}_TOKEN`),
    new Option("--allow-host <name>", "a host name of this server besides localhost; can be repeated")
      .argParser(collect),
    new Option(
      "--allow-origin <origin>",
      "the origin of pages that may use it, such as https://app.example.com; can be repeated",
    ).argParser(collectOrigin),
  ];
}

/** Whom the options admit. */
export function admissionOf({ httpToken, allowHost, allowOrigin }: HttpOptions): AdmissionOptions {
  return { token: httpToken, allowedHosts: allowHost, allowedOrigins: allowOrigin };
}

/** Parses `PORT`, `HOST:PORT` or `[ADDRESS]:PORT`. */
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

/** The addresses that other machines cannot reach. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\]|::1)$/;

/** @throws {UsageError} other machines could use the server without a token. */
export function checkHttpToken(
  { host }: HttpPlace,
  { token, variable, what }: {
    readonly token: string | undefined;
    readonly variable: string;
    /** What others could use, such as `the office`. */
    readonly what: string;
  },
): void {
  if (LOOPBACK.test(host) || token !== undefined) return;
  throw new UsageError(
    `Cannot listen on "${host}": other machines could use ${what} without a token; set ${variable}`,
  );
}

/**
 * Listens until `signal` is aborted, and closes the handler.
 *
 * @throws {UsageError} the port cannot be listened on.
 */
export async function listenOnHttp(
  handler: HttpHandler,
  { host, port, logger, signal }: HttpPlace & { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  await using _ = handler;
  const cut = new AbortController();
  const place = { hostname: host.replace(/^\[|\]$/g, ""), port, signal: cut.signal };
  const server = listen(place, { handler: handler.fetch, logger });
  await untilAborted(signal);
  // Streams end first: a server that shuts down waits for them.
  await handler.close();
  const isShutDown = await settledWithin(server.shutdown().then(() => true), SHUTDOWN_MS);
  // A client may never end its request.
  if (!isShutDown) cut.abort();
  await server.finished;
}

function listen(
  place: { readonly hostname: string; readonly port: number; readonly signal: AbortSignal },
  { handler, logger }: { readonly handler: HttpHandler["fetch"]; readonly logger: Logger },
): Deno.HttpServer {
  const onListen = ({ hostname, port }: Deno.NetAddr) => {
    const host = hostname.includes(":") ? `[${hostname}]` : hostname;
    logger.info("serving MCP clients", { url: `http://${host}:${port}/mcp` });
  };
  try {
    return Deno.serve({ ...place, onListen }, handler);
  } catch (cause) {
    throw new UsageError(`Cannot listen on "${place.hostname}:${place.port}": ${describeError(cause)}`, {
      cause,
    });
  }
}
