/** Serves the gateway to one client on standard input and output. */
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import process from "node:process";
import { type Logger, silentLogger } from "../log.ts";
import { coreOf } from "./gateway.ts";
import type { Gateway } from "./gateway_options.ts";
import { ListeningTransport } from "./listening_transport.ts";
import type { Scope } from "./scope.ts";

/** The largest message that is read, in bytes: a client may send a file as an argument. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** A client that is being served. */
export interface StdioService {
  /** Resolves when the client is gone: it has closed standard input, or does not read any more. */
  readonly closed: Promise<void>;
  /** Ends the service; `closed` resolves. */
  close(): Promise<void>;
}

/** Serves one client. Nothing else may write to standard output. */
export function serveOnStdio(
  gateway: Gateway,
  { scope, logger = silentLogger }: {
    /** What the client reaches; everything by default. */
    readonly scope?: Scope | undefined;
    readonly logger?: Logger | undefined;
  } = {},
): StdioService {
  const core = coreOf(gateway);
  const stdio = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MAX_MESSAGE_BYTES });
  const transport = new ListeningTransport(stdio, (uris) => core.followResources(uris, scope));
  const handle = serveStdio(core.factory(scope), {
    transport,
    onerror: (error) => logger.warn("a message of the client was not served", { error: reasonOf(error) }),
  });
  return { closed: transport.closed, close: () => handle.close() };
}

/** Of a message that the SDK cannot read it lists what each schema misses, over many lines. */
function reasonOf(error: Error): string {
  return "issues" in error ? "not a message of JSON-RPC 2.0" : error.message;
}
