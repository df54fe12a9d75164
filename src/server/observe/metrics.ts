/** What a Server counts, as a text and as an HTTP answer. */
import { createHash, timingSafeEqual } from "node:crypto";
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import type { Logger } from "../../log.ts";
import { describeError } from "../../text.ts";
import type { HostRule } from "../admission/origins.ts";
import type { Connection } from "../relay/connection.ts";
import { answerPlainRequest, type PlainAnswers } from "../http.ts";
import { refusePlainUpgrade } from "../http_refusals.ts";
import { MAX_METRICS_SOCKETS } from "../limits.ts";
import type { Snapshot } from "./exposition.ts";
import { startListening, stopListening } from "../sockets/listening.ts";
import type { Tally } from "./tally.ts";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export class Metrics {
  readonly #tally: Tally;
  readonly #takeSnapshot: () => Snapshot;
  #write: Promise<() => Promise<string>> | undefined;
  /** The text that is being written: requests that come meanwhile share it. */
  #writing: Promise<string> | undefined;

  constructor(tally: Tally, takeSnapshot: () => Snapshot) {
    this.#tally = tally;
    this.#takeSnapshot = takeSnapshot;
  }

  text(): Promise<string> {
    return this.#writing ??= this.#writeText().finally(() => this.#writing = undefined);
  }

  async #writeText(): Promise<string> {
    // Loaded only now: a Server without metrics starts faster.
    this.#write ??= import("./exposition.ts").then(({ createExposition }) =>
      createExposition(this.#tally, this.#takeSnapshot)
    );
    const write = await this.#write;
    return await write();
  }
}

export function takeSnapshot(
  connections: Iterable<Connection>,
  others: Omit<Snapshot, keyof Counted>,
): Snapshot {
  const byRole = { agent: 0, computer: 0, observer: 0, none: 0 };
  const offices = new Set<string>();
  let requestsInFlight = 0;
  let bytesInFlight = 0;
  for (const { member, inFlight } of connections) {
    byRole[member === undefined ? "none" : member.isObserver ? "observer" : member.role]++;
    if (member !== undefined) offices.add(member.officeId);
    requestsInFlight += inFlight.requests;
    bytesInFlight += inFlight.bytes;
  }
  return { ...others, connections: byRole, offices: offices.size, requestsInFlight, bytesInFlight };
}

type Counted = Pick<Snapshot, "connections" | "offices" | "requestsInFlight" | "bytesInFlight">;

class MetricsPage {
  readonly #metrics: Metrics;
  readonly #token: Uint8Array | undefined;
  readonly #logger: Logger;

  /** @param options `token`: what a request must show as a bearer token, if anything. */
  constructor(metrics: Metrics, options: { readonly token: string | undefined; readonly logger: Logger }) {
    this.#metrics = metrics;
    this.#token = options.token === undefined ? undefined : digestOf(options.token);
    this.#logger = options.logger;
  }

  /** Answers a request. Never throws. */
  answer({ method, headers }: IncomingMessage, response: ServerResponse): void {
    // Programs send no Origin, and no web page has business here.
    if (headers.origin !== undefined) return end(response, 403, "Not for web pages\n");
    if (method !== "GET" && method !== "HEAD") return end(response, 405, "Only GET is supported\n");
    if (!this.#isAuthorized(headers.authorization)) {
      response.setHeader("www-authenticate", "Bearer");
      return end(response, 401, "A bearer token is required\n");
    }
    this.#metrics.text().then(
      (text) => end(response, 200, text),
      (error) => {
        this.#logger.error("failed to write the metrics", { error: describeError(error) });
        end(response, 500, "Internal error\n");
      },
    );
  }

  #isAuthorized(authorization: string | undefined): boolean {
    if (this.#token === undefined) return true;
    const [, shown] = /^Bearer +(.+)$/i.exec(authorization ?? "") ?? [];
    return shown !== undefined && timingSafeEqual(digestOf(shown), this.#token);
  }
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": status === 200 ? CONTENT_TYPE : "text/plain; charset=utf-8",
    "cache-control": "no-store",
  });
  response.end(text);
}

/** Digests have a fixed length, so the comparison does not leak the length of the token. */
function digestOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}

export interface MetricsSideOptions {
  /** The port of their own; none if absent. */
  readonly port: number | undefined;
  readonly host: string;
  readonly token: string | undefined;
  readonly isHostAllowed: HostRule;
  readonly checks: PlainAnswers["checks"];
  readonly httpOptions: ServerOptions;
  readonly logger: Logger;
}

/** Serves the metrics: on a port of their own, and on the main port if they need a token. */
export class MetricsSide {
  readonly mainPage: MetricsPage | undefined;
  readonly #http: HttpServer | undefined;
  readonly #options: MetricsSideOptions;

  constructor(metrics: Metrics | undefined, options: MetricsSideOptions) {
    this.#options = options;
    const page = metrics && new MetricsPage(metrics, options);
    this.mainPage = options.token === undefined ? undefined : page;
    if (options.port !== undefined) this.#http = createMetricsServer(page, options);
  }

  /** Listens on the port of their own, and resolves to its address; to `undefined` without such a port. */
  async listen(signal: AbortSignal | undefined): Promise<{ host: string; port: number } | undefined> {
    const { host, port } = this.#options;
    if (this.#http === undefined || port === undefined) return undefined;
    return { host, port: await startListening(this.#http, { host, port, signal }) };
  }

  async close(): Promise<void> {
    if (this.#http !== undefined) await stopListening(this.#http);
  }
}

function createMetricsServer(metrics: MetricsPage | undefined, options: MetricsSideOptions): HttpServer {
  const { checks, isHostAllowed, httpOptions } = options;
  const handshake = { isOriginAllowed: () => false, isHostAllowed };
  const http = createServer(httpOptions, (request, response) => {
    answerPlainRequest(request, response, { handshake, checks, metrics });
  });
  http.maxConnections = MAX_METRICS_SOCKETS;
  http.on("upgrade", refusePlainUpgrade);
  return http;
}
