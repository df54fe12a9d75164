/**
 * The office's one seat, shared by the programs of one user on one machine. Whoever comes first connects to the Server and
 * serves the others, each of which has an Agent of its own: only the connection is shared. When the holder ends, the next
 * one takes over, as after a lost connection.
 */
import { join, resolve } from "@std/path";
import { Backoff, delay } from "../../../async/backoff.ts";
import type { AttemptContext, Connection, ConnectOptions, OpenConnection } from "../../../link/connect.ts";
import { unreachable } from "../../../link/connect_failure.ts";
import { digestOfText } from "../../../json/digest.ts";
import type { Logger } from "../../../log.ts";
import { ConnectionClosedError, ProtocolVersionError } from "../../../link/errors.ts";
import { parseServerAddress } from "../../../protocol/server_address.ts";
import { DEFAULT_PROTOCOL, PROTOCOL_VERSIONS, type ProtocolMinor } from "../../../protocol/version.ts";
import { describeError } from "../../../text/text.ts";
import type { ConnectionOptions } from "../../credentials.ts";
import { connectLocally } from "../../local_socket.ts";
import { MAX_PATH_BYTES } from "../../../files/user_sockets.ts";
import { controlFolder, missingFlags } from "../../socket_folder.ts";
import { makePrivateFolder } from "../../private_folder.ts";
import { permitted, stateFolder } from "../../../files/state_folder.ts";
import { GuestConnection } from "./guest_connection.ts";
import { SeatFile } from "./seat_file.ts";
import { ownConnection, removeQuietly, SeatHolder } from "./seat_holder.ts";
import { SharedConnection } from "./shared_connection.ts";

/** The waits of a program before it looks again who holds the seat, in milliseconds. */
const LOOK_AGAIN = { firstMs: 50, maxMs: 1_000 };
/** How long a program that can do without the seat waits for its holder, in milliseconds. */
const VISIT_MS = 2_000;
/** How long a holder that has done its work serves others whose requests it has begun, in milliseconds. */
const LINGER_MS = 300_000;
/** The lengths of the names of files, in hexadecimal digits: what a seat's files have in common, and what one socket has. */
const KEY_LENGTH = 24;
const UNIQUE_LENGTH = 8;

export interface LocalSeatOptions {
  /** Whether this program may become the holder; one that only reads looks on as an observer instead. */
  readonly mayHold: boolean;
  readonly logger: Logger;
}

export interface SettleOptions {
  readonly onWait?: (() => void) | undefined;
}

interface SeatPlace {
  readonly file: string;
  /**
   * What the path of a socket begins with. Each holder has a socket of its own: one that ends late removes it, and must not
   * remove that of its successor.
   */
  readonly sockets: string;
}

export class LocalSeat implements Disposable {
  readonly #file: SeatFile;
  readonly #sockets: string;
  readonly #options: LocalSeatOptions;
  #holder: SeatHolder | undefined;
  /** Why the last visit to the holder brought no connection. */
  #problem = "another program of this user holds the seat, and does not respond";
  /** Whether the file system does not do what sharing needs, such as locks: this program connects by itself. */
  #isUnshared = false;

  private constructor({ file, sockets }: SeatPlace, options: LocalSeatOptions) {
    this.#file = new SeatFile(file);
    this.#sockets = sockets;
    this.#options = options;
  }

  /**
   * The seat for these options; `undefined` without a home, and where permissions are missing: this program then connects
   * by itself.
   */
  static async find(
    connection: ConnectionOptions,
    options: LocalSeatOptions,
  ): Promise<LocalSeat | undefined> {
    try {
      const place = await placeOf(connection);
      return place && new LocalSeat(place, options);
    } catch (error) {
      warnUnshared(options, error);
      return undefined;
    }
  }

  /** Opens the connection of this program: to the Server, or to the program that holds the seat. */
  readonly open: OpenConnection = async (options, context) => {
    const endsAtMs = performance.now() + context.timeoutMs;
    const leftMs = () => endsAtMs - performance.now();
    const backoff = new Backoff(LOOK_AGAIN);
    while (true) {
      context.signal.throwIfAborted();
      if (this.#options.mayHold ? this.#take() : !this.#file.isTaken) {
        return await this.#connect(options, { ...context, timeoutMs: Math.max(1, leftMs()) });
      }
      if (leftMs() <= 0) throw unreachable(options.url, this.#problem);
      const guest = await this.#visit(options, { ...context, timeoutMs: this.#mayWait(leftMs()) });
      if (guest !== undefined) return guest;
      if (!this.#options.mayHold) {
        return await this.#connect(options, { ...context, timeoutMs: Math.max(1, leftMs()) });
      }
      await delay(backoff.next(), context.signal);
    }
  };

  /**
   * Serves others until none waits for an answer, and tells them to go on without this program. Call it before the Agent
   * is closed.
   *
   * @param signal Ends the wait.
   * @param options `onWait`: called when others wait for answers.
   */
  async settle(signal: AbortSignal, { onWait }: SettleOptions = {}): Promise<void> {
    const holder = this.#holder;
    if (holder === undefined) return;
    if (holder.isBusy) onWait?.();
    await holder.untilQuiet(LINGER_MS, signal);
    await holder.sayGoodbye();
    await holder.untilQuiet(LINGER_MS, signal);
  }

  /** Leaves the seat to the next program. Call it after the Agent is closed. */
  [Symbol.dispose](): void {
    const isKept = this.#holder !== undefined && this.#holder.programs > 0;
    this.#leave();
    this.#file.release({ isKept });
  }

  #mayWait(leftMs: number): number {
    return this.#options.mayHold ? leftMs : Math.min(leftMs, VISIT_MS);
  }

  /** Whether this program connects to the Server: it holds the seat, or cannot share it. */
  #take(): boolean {
    if (this.#isUnshared) return true;
    try {
      return this.#file.isHeld || this.#takeNow();
    } catch (error) {
      this.#giveUp(error);
      return true;
    }
  }

  #giveUp(error: unknown): void {
    this.#isUnshared = true;
    warnUnshared(this.#options, error);
  }

  #takeNow(): boolean {
    this.#leave();
    return this.#file.take();
  }

  #leave(): void {
    this.#holder?.close();
    this.#holder = undefined;
  }

  async #connect(options: ConnectOptions, context: AttemptContext): Promise<Connection> {
    const { openConnection } = await import("../../../link/connect.ts");
    const held = this.#options.mayHold && !this.#isUnshared
      ? await this.#hold().catch((error) => this.#giveUp(error))
      : undefined;
    if (held === undefined) return await openConnection(options, context);
    const { holder, session } = held;
    const shares: SharedConnection[] = [];
    const server = await openConnection({ ...options, auth: { ...options.auth, session } }, {
      ...context,
      onEvent: (incoming) => shares[0]?.onEvent(incoming),
    });
    const shared = new SharedConnection(server);
    shares.push(shared);
    const share = shared.share(context.onEvent);
    holder.serve(shared, options.protocolVersion ?? DEFAULT_PROTOCOL);
    return ownConnection(shared, share);
  }

  /** Serves other programs from now on, with the session of the holder before. */
  async #hold(): Promise<{ readonly holder: SeatHolder; readonly session: string }> {
    const { logger } = this.#options;
    const { session = crypto.randomUUID(), socket: left } = this.#file.read() ?? {};
    if (this.#holder !== undefined) return { holder: this.#holder, session };
    if (left !== undefined) removeQuietly(left);
    const socket = `${this.#sockets}${crypto.randomUUID().slice(0, UNIQUE_LENGTH)}.sock`;
    const holder = this.#holder = await SeatHolder.open(socket, logger);
    this.#file.write({ session, socket });
    return { holder, session };
  }

  /** A connection by way of the holder; `undefined` when it has none now, or is no holder any more. */
  async #visit(options: ConnectOptions, context: AttemptContext): Promise<Connection | undefined> {
    try {
      const { socket: path } = this.#file.read() ?? {};
      if (path === undefined) return undefined;
      const socket = await connectLocally(path);
      const { connection, hello } = await GuestConnection.open(socket, context);
      const { protocolVersion = DEFAULT_PROTOCOL } = options;
      if (hello.protocol === protocolVersion) return connection;
      await connection.close();
      throw otherProtocol(hello.protocol, protocolVersion);
    } catch (error) {
      if (error instanceof ProtocolVersionError) throw error;
      context.signal.throwIfAborted();
      if (error instanceof ConnectionClosedError) this.#problem = error.message;
      if (!(error instanceof ConnectionClosedError || isNobody(error))) throw error;
      return undefined;
    }
  }
}

function warnUnshared({ logger }: LocalSeatOptions, error: unknown): void {
  logger.warn("the seat is not shared with other programs", { error: describeError(error) });
}

/** Nobody listens at the path: the holder has ended, or has not begun. */
function isNobody(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.ConnectionRefused ||
    error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe;
}

function otherProtocol(held: ProtocolMinor, wanted: ProtocolMinor): ProtocolVersionError {
  const version = PROTOCOL_VERSIONS[held];
  return new ProtocolVersionError(
    `Cannot use the seat with protocol ${wanted}: another program of this user speaks ${held} there. Leave out --protocol, ` +
      `or give --protocol ${held}`,
    { code: 4008, message: "Protocol version mismatch", min_supported: version, max_supported: version },
  );
}

/** Where the files of a seat are. Its name tells neither the Server nor the credentials. */
async function placeOf(connection: ConnectionOptions): Promise<SeatPlace | undefined> {
  const state = stateFolder();
  if (state === undefined) return undefined;
  const folder = join(state, "seats");
  const key = keyOf(connection);
  const near = join(folder, `${key}-`);
  const longest = `${near}${"0".repeat(UNIQUE_LENGTH)}.sock`;
  const isFar = new TextEncoder().encode(longest).length > MAX_PATH_BYTES;
  const file = join(folder, `${key}.json`);
  if (permitted("read", folder) === undefined || permitted("write", folder) === undefined) return undefined;
  const control = isFar ? await controlFolder() : undefined;
  const sockets = isFar ? control && join(control, `seat-${key}-`) : near;
  // The permission for one socket is none for those of the next holders.
  const mayConnect = Deno.build.os === "windows"
    ? (await missingFlags()).length === 0
    : Deno.permissions.querySync({ name: "net" }).state === "granted";
  if (sockets === undefined || !mayConnect) return undefined;
  // Deno would ask at the terminal for the folder above, where only the one of the seats is allowed.
  if (permitted("write", state) !== undefined) await Deno.mkdir(state, { recursive: true, mode: 0o700 });
  await makePrivateFolder(folder);
  return { file, sockets };
}

function keyOf(options: ConnectionOptions): string {
  const { url, path, office, token, tokenFile, tokenCommand, auth = {}, header = {}, caFile } = options;
  const { origin, path: below } = parseServerAddress(url, path);
  const files = [tokenFile, caFile].map((file) => file === undefined ? null : resolve(file));
  const credentials = [token, tokenCommand, sorted(auth), sorted(header), ...files];
  return digestOfText(JSON.stringify([origin, below, office, credentials])).slice(0, KEY_LENGTH);
}

function sorted(fields: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(fields).sort(([one], [other]) => one < other ? -1 : 1);
}
