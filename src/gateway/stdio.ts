/** Serves the gateway to one client on standard input and output. */
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { McpServerFactory } from "@modelcontextprotocol/server";
import process from "node:process";
import { type Logger, silentLogger } from "../log.ts";

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
  factory: McpServerFactory,
  { logger = silentLogger }: { readonly logger?: Logger } = {},
): StdioService {
  const transport = new EndingTransport();
  const handle = serveStdio(factory, {
    transport,
    onerror: (error) => logger.warn("a message of the client was not served", { error: error.message }),
  });
  return { closed: transport.closed, close: () => handle.close() };
}

/** Tells when it has been closed, by either side. */
class EndingTransport extends StdioServerTransport {
  readonly #ended = Promise.withResolvers<void>();

  constructor() {
    super(process.stdin, process.stdout, { maxBufferSize: MAX_MESSAGE_BYTES });
  }

  get closed(): Promise<void> {
    return this.#ended.promise;
  }

  override async close(): Promise<void> {
    await super.close();
    this.#ended.resolve();
  }
}
