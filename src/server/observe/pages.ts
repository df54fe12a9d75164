/** What a Server tells over HTTP about itself: its metrics, and whether it is alive and ready. */
import { createServer, type ServerOptions, type ServerResponse } from "node:http";
import { startListening, stopListening } from "../../http/listening.ts";
import type { HostRule } from "../../http/senders.ts";
import { digestOf, isToken, readBearer } from "../../http/tokens.ts";
import type { Logger } from "../../log.ts";
import { describeError } from "../../text/text.ts";
import type { AuthProvider } from "../admission/provider.ts";
import type { Drain } from "../drain.ts";
import { answerPlainRequest, type PlainAnswers } from "../engine/port.ts";
import { refusePlainUpgrade } from "../engine/opening_handshake.ts";
import type { Offices } from "../offices/offices.ts";
import type { Watchdog } from "../engine/watchdog.ts";

/** The most TCP connections to the port of the metrics. */
const MAX_METRICS_SOCKETS = 64;

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

type Page = NonNullable<PlainAnswers["metrics"]>;

/**
 * Makes the page of the metrics, which never throws.
 *
 * @param options `token`: what a request must show as a bearer token, if anything.
 */
export function createMetricsPage(
  write: () => string,
  { token, logger }: { readonly token: string | undefined; readonly logger: Logger },
): Page {
  const digest = token === undefined ? undefined : digestOf(token);
  return ({ method, headers }, response) => {
    // Programs send no Origin, and no web page has business here.
    if (headers.origin !== undefined) return end(response, 403, "Not for web pages\n");
    if (method !== "GET" && method !== "HEAD") return end(response, 405, "Only GET is supported\n");
    if (digest !== undefined && !isToken(readBearer(headers.authorization) ?? "", digest)) {
      response.setHeader("www-authenticate", "Bearer");
      return end(response, 401, "A bearer token is required\n");
    }
    try {
      end(response, 200, write());
    } catch (error) {
      logger.error("failed to write the metrics", { error: describeError(error) });
      end(response, 500, "Internal error\n");
    }
  };
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": status === 200 ? CONTENT_TYPE : "text/plain; charset=utf-8",
    "cache-control": "no-store",
  });
  response.end(text);
}

/** The port for metrics and health alone, which does not listen yet. */
export function openMetricsPort(
  { host, port, isHostAllowed, httpOptions, ...answers }: Pick<PlainAnswers, "checks" | "metrics"> & {
    readonly host: string;
    readonly port: number;
    readonly isHostAllowed: HostRule;
    readonly httpOptions: ServerOptions;
  },
) {
  const handshake = { isOriginAllowed: () => false, isHostAllowed };
  const http = createServer(httpOptions, (request, response) => {
    answerPlainRequest(request, response, { ...answers, handshake });
  });
  http.maxConnections = MAX_METRICS_SOCKETS;
  http.on("upgrade", refusePlainUpgrade);
  return {
    listen: async (signal: AbortSignal | undefined) => ({
      host,
      port: await startListening(http, { host, port, signal }),
    }),
    close: () => stopListening(http),
  };
}

type Check = () => string | undefined;

/** Whether a Server is alive and ready, as probes ask for it. */
export class Health {
  /** Checks whether connections are accepted, if somebody does. */
  watchdog: Watchdog | undefined;
  offices: Pick<Offices, "unready"> | undefined;
  /** What is wrong, by the path that asks for it. */
  readonly checks: ReadonlyMap<string, Check>;
  /** Why no new sessions are accepted; `undefined` while they are. */
  readonly checkReadiness: Check;

  constructor({ drain, auth }: { readonly drain: Drain; readonly auth: AuthProvider }) {
    const checkLife = () => this.watchdog?.isHealthy === false ? "cannot accept connections" : undefined;
    this.checkReadiness = () =>
      drain.isStarted ? "shutting down" : this.offices?.unready ?? checkAuth(auth) ?? checkLife();
    this.checks = new Map([["/", checkLife], ["/healthz", checkLife], ["/readyz", this.checkReadiness]]);
  }
}

function checkAuth(auth: AuthProvider): string | undefined {
  try {
    return auth.unready?.();
  } catch {
    return "the auth provider fails";
  }
}
