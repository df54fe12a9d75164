/**
 * Checks whether the Server still accepts connections. After a process has run out of open files, its runtime may never
 * accept a connection again, although it listens and files are free again. Listening again repairs that.
 */
import type { Server as HttpServer } from "node:http";
import { connect, type Socket } from "node:net";
import { ListenError } from "../../http/listening.ts";
import type { Logger } from "../../log.ts";
import { describeError } from "../../text/text.ts";
import { hasPermission, OPEN_FILES_REMEDY } from "./tcp_sockets.ts";

/** How often the Server checks whether it still accepts connections. */
const CHECK_INTERVAL_MS = 2_000;
/** How long the acceptance of the check's connection may take. */
const CHECK_TIMEOUT_MS = 1_000;
/** Consecutive failed checks after which the Server listens again. */
const FAILED_BEFORE_RELISTEN = 2;
/** Consecutive failed checks after which the Server fails. */
const FAILED_BEFORE_FAILURE = 10;

export interface WatchdogOptions {
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
  /** The time between two checks; 2 seconds by default. */
  readonly intervalMs?: number;
  /** How long the acceptance of the check's connection may take; 1 second by default. */
  readonly timeoutMs?: number;
  /** Called once, when listening again did not help. */
  readonly onFailed: (error: ListenError) => void;
}

export class Watchdog {
  readonly #server: HttpServer;
  readonly #options: WatchdogOptions;
  readonly #onConnection = () => this.#notice();
  readonly #onError = (error: Error) =>
    this.#options.logger.error("failed to listen", { error: describeError(error) });
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The connection of the last check, and whether it waits to be accepted. */
  #probe: Socket | undefined;
  #isProbing = false;
  /** Why the last check could not connect, if it could not. */
  #problem: string | undefined;
  #failures = 0;
  /** Set by the first connection, since a platform may have no "connection" events. */
  #isArmed = false;

  constructor(server: HttpServer, options: WatchdogOptions) {
    this.#server = server;
    this.#options = options;
    server.on("connection", this.#onConnection).on("error", this.#onError);
  }

  get isHealthy(): boolean {
    return this.#failures === 0;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#server.off("connection", this.#onConnection).off("error", this.#onError);
    const probe = this.#probe;
    if (probe === undefined || probe.closed) return;
    const closed = new Promise((resolve) => probe.once("close", resolve));
    probe.destroy();
    await closed;
  }

  /** Any accepted connection proves that the Server accepts connections. */
  #notice(): void {
    if (this.#isProbing) this.#end(true);
    if (this.#isArmed || !mayConnect(this.#address())) return;
    this.#isArmed = true;
    this.#schedule();
  }

  #schedule(): void {
    this.#timer = setTimeout(() => this.#check(), this.#options.intervalMs ?? CHECK_INTERVAL_MS);
  }

  #check(): void {
    const probe = connect(this.#address());
    this.#probe = probe;
    this.#problem = undefined;
    this.#isProbing = true;
    // The "connection" event of the server decides; an error here is only logged.
    probe.on("error", (error) => {
      this.#problem = explain(error);
      this.#options.logger.debug("failed to connect to the port of the Server", { error: this.#problem });
    });
    this.#timer = setTimeout(() => {
      // After a stall of the event loop, connections that arrived meanwhile are handled first.
      this.#timer = setTimeout(() => this.#end(false), 0);
    }, this.#options.timeoutMs ?? CHECK_TIMEOUT_MS);
  }

  #end(isAccepted: boolean): void {
    clearTimeout(this.#timer);
    this.#isProbing = false;
    this.#probe?.destroy();
    if (isAccepted && this.#failures >= FAILED_BEFORE_RELISTEN) {
      this.#options.logger.info("accepting connections again");
    }
    this.#failures = isAccepted ? 0 : this.#failures + 1;
    if (this.#failures >= FAILED_BEFORE_FAILURE) return this.#fail();
    if (this.#failures >= FAILED_BEFORE_RELISTEN) this.#listenAnew();
    this.#schedule();
  }

  /** Closes and listens in one turn of the event loop, so that the open file cannot be taken in between. */
  #listenAnew(): void {
    const { host, port, logger } = this.#options;
    logger.error("no longer accepting connections: listening again", { host, port, error: this.#problem });
    try {
      this.#server.close();
      this.#server.listen({ host, port });
    } catch (error) {
      logger.error("failed to listen", { error: describeError(error) });
    }
  }

  #fail(): void {
    const { host, port, onFailed } = this.#options;
    const cause = this.#problem === undefined ? "" : `; ${this.#problem}`;
    onFailed(
      new ListenError(`Cannot accept connections on "${host}:${port}": listening again did not help${cause}`),
    );
  }

  #address(): { readonly host: string; readonly port: number } {
    const { host, port } = this.#options;
    const local: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
    return { host: local[host] ?? host, port };
  }
}

/** Names the cause in words if it is that the process has no open file left. */
function explain(error: Error): string {
  const code = "code" in error ? error.code : undefined;
  const isOutOfFiles = code === "EMFILE" || code === "ENFILE";
  return isOutOfFiles ? `${code}: too many open files; ${OPEN_FILES_REMEDY}` : describeError(error);
}

function mayConnect({ host, port }: { readonly host: string; readonly port: number }): boolean {
  const name = host.includes(":") ? `[${host}]` : host;
  return hasPermission({ name: "net", host: `${name}:${port}` });
}
