/** Serves the gateway to one client on standard input and output. */
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import process from "node:process";
import { Buffer } from "node:buffer";
import { pipeline, type Readable, Transform } from "node:stream";
import { type Logger, silentLogger } from "../log.ts";
import { OWNER } from "../http/mcp/access.ts";
import { coreOf } from "./gateway_core.ts";
import type { Gateway, Scope } from "./gateway_options.ts";
import { ListeningTransport } from "./listening_transport.ts";

/** The largest message that is read, in bytes: a client may send a file as an argument. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const LINE_FEED = 0x0a;

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
  const lines = inWholeLines(process.stdin, MAX_MESSAGE_BYTES);
  const stdio = new StdioServerTransport(lines, process.stdout, { maxBufferSize: MAX_MESSAGE_BYTES });
  const transport = new ListeningTransport(stdio, (uris) => core.followResources(uris, scope));
  const factory = core.factory(scope);
  const handle = serveStdio(({ era }) => factory({ era, access: () => OWNER }), {
    transport,
    onerror: (error) => logger.warn("a message of the client was not served", { error: reasonOf(error) }),
  });
  return { closed: transport.closed, close: () => handle.close() };
}

/**
 * Passes on whole lines, and what is longer than a message may be, which the SDK refuses. Of a part of a line it would
 * copy all that it has with each new piece: minutes for a large message.
 */
export function inWholeLines(input: Readable, maxBytes: number): Readable {
  let pieces: Uint8Array[] = [];
  let size = 0;
  const lines = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      pieces.push(chunk);
      size += chunk.length;
      const end = chunk.lastIndexOf(LINE_FEED) + 1;
      if (end === 0 && size <= maxBytes) return done();
      const whole = Buffer.concat(pieces);
      const rest = end === 0 ? 0 : chunk.length - end;
      pieces = rest === 0 ? [] : [whole.subarray(whole.length - rest)];
      size = rest;
      done(null, whole.subarray(0, whole.length - rest));
    },
  });
  // An error of the input destroys the lines, by which the transport ends.
  pipeline(input, lines, () => undefined);
  return lines;
}

/** Of a message that the SDK cannot read it lists what each schema misses, over many lines. */
function reasonOf(error: Error): string {
  return "issues" in error ? "not a message of JSON-RPC 2.0" : error.message;
}
