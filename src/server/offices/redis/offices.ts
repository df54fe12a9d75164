/** The offices of a Server that is several processes: in Redis. */
import { settledWithin } from "../../../async/abortable.ts";
import { delay } from "../../../async/backoff.ts";
import type { Logger } from "../../../log.ts";
import { isRecord, parseJson } from "../../../json/json.ts";
import { SmcpError } from "../../../protocol/errors.ts";
import { describeError } from "../../../text/text.ts";
import type { Target } from "../../relay/connection.ts";
import { isSameMembership, type JoinOutcome, type Member, refuseMove } from "../office.ts";
import {
  type Notification,
  type OfficeBounds,
  type OfficeListener,
  type Offices,
  outOfReach,
} from "../offices.ts";
import { RedisConnection } from "./connection.ts";
import { Courier, type CourierBounds } from "./courier.ts";
import { type Lease, type LeaseClock, Registration, systemClock } from "./registration.ts";
import type { MessageOf } from "./messages.ts";
import type { RedisSettings } from "./settings.ts";
import { type OfficeContext, type OwnSeat, SharedOffice } from "./shared_office.ts";
import { KEPT_MS, redisKeys, toSeat } from "./store.ts";

/** How long a join may wait for Redis to settle, or for the lease of another process to end. */
const JOIN_TIMEOUT_MS = 15_000;
/** How long another process may take to end an older connection before it is asked again. */
const REPLACING_MS = 500;
/** How often offices are read again, for which Redis keeps them: if it failed a few times, they are still there. */
const READ_INTERVAL_MS = KEPT_MS / 8;
/** How long the last changes may take when the Server closes. */
const CLOSE_TIMEOUT_MS = 2_000;

const WAITING =
  "waiting, since Redis has restarted: members are not served until the leases that it forgot have ended";

export interface RedisOfficesContext extends CourierBounds, OfficeBounds {
  readonly listener: OfficeListener;
  readonly clock?: LeaseClock;
}

export class RedisOffices implements Offices {
  /** Resolves when this process is registered for the first time. */
  readonly started: Promise<void>;
  readonly #logger: Logger;
  readonly #listener: OfficeListener;
  readonly #context: OfficeContext;
  readonly #offices = new Map<string, SharedOffice>();
  /** The seats that the connections of this process have or take, by `sid`. */
  readonly #seats = new Map<string, OwnSeat>();
  /** Those with a session, by its digest: when many members come back, each join asks for the seats of its session. */
  readonly #sessions = new Map<string, Set<OwnSeat>>();
  readonly #closing = new AbortController();
  /** The number of offices whose seats cannot be taken again yet. */
  #waiting = 0;
  /** When all offices were last read, on the clock of the lease. */
  #readAtMs = -Infinity;

  constructor(settings: RedisSettings, context: RedisOfficesContext) {
    const { logger, listener, clock = systemClock } = context;
    this.#logger = logger;
    this.#listener = listener;
    const redis = new RedisConnection({
      ...settings,
      logger,
      onAway: () => courier.failOutgoing(),
      onRestored: () => void registration.renew(),
      wasRegistered: () => registration.lease !== undefined,
    });
    // Channels do not belong to a database.
    const keys = redisKeys(`${settings.prefix}:${redis.address.database}`);
    const shared = { ...settings, redis, keys, clock, logger, signal: this.#closing.signal };
    const courier = new Courier({
      ...context,
      fence: () => registration.fence,
      connections: listener.connections,
      isServing: (sid) => this.isServing(sid),
      publish: async (fence, message) =>
        Number(await redis.clients.publish(keys.processChannel(fence), message)),
      replace: (message) => this.#replace(message),
    });
    const registration: Registration = new Registration(shared, {
      onMessage: (message) => courier.receive(message),
      onRegistered: () => courier.forgetRequests(),
      takeSeatsAgain: (lease) => this.#takeAgain(lease),
      onBeat: () => this.#check(),
    });
    this.#context = {
      ...shared,
      maxMembersPerOffice: context.maxMembersPerOffice,
      registration,
      courier,
      listener,
      onEnded: (seat) => this.#remove(seat),
      onNotice: (officeId, text) => this.#onNotice(officeId, text),
      onClosed: (office) => {
        if (this.#offices.get(office.officeId) === office) this.#offices.delete(office.officeId);
      },
      onError: (error) => this.#onError("failed to follow an office in Redis", error),
    };
    this.started = this.#start();
  }

  get size(): number {
    return this.#offices.size;
  }

  get unready(): string | undefined {
    if (!this.#context.registration.isActive) return "cannot reach Redis";
    return this.#waiting > 0 ? "waiting, since Redis has restarted" : undefined;
  }

  async join(candidate: Member): Promise<JoinOutcome> {
    const { sid, officeId } = candidate;
    const intent = `join office "${officeId}"`;
    const current = this.#seats.get(sid);
    if (current !== undefined && isSameMembership(current.member, candidate)) {
      if (isServed(current)) return { kind: "joined", member: current.member };
      throw outOfReach(intent);
    }
    const refusal = refuseMove(candidate, current?.member);
    if (refusal !== undefined) return { kind: "refused", ...refusal };
    // First: what is opened must be used.
    this.#context.registration.requireLease(intent);
    const office = this.#open(officeId);
    const seat = toSeat(candidate, this.#context.registration.fence);
    const { sessionId } = seat;
    const outcome = await this.#take({ member: candidate, office, sessionId, state: "joining" }, current);
    if (outcome.kind === "joined") {
      if (current !== undefined) await this.#give(current, "left");
      this.#context.courier.replace(seat);
    }
    if (office.lease !== this.#context.registration.lease) void this.#context.registration.repair();
    return outcome;
  }

  async leave(sid: string): Promise<void> {
    const seat = this.#seats.get(sid);
    if (seat !== undefined) await this.#give(seat, "left");
  }

  async members(officeId: string): Promise<readonly Member[]> {
    const office = this.#open(officeId);
    try {
      return await office.members();
    } catch (error) {
      throw outOfReach(`list office "${officeId}"`, error);
    }
  }

  isServing(sid: string): boolean {
    const seat = this.#seats.get(sid);
    return seat !== undefined && isServed(seat);
  }

  findComputer(officeId: string, name: string): Target | undefined {
    const office = this.#offices.get(officeId);
    const seat = office?.copy.office.findComputer(name);
    if (office === undefined || seat === undefined || office.isLeft(seat)) return undefined;
    const own = office.ownSeats.get(seat.sid);
    const isReachable = own === undefined ? this.#context.redis.isUp : isServed(own);
    if (!isReachable) throw outOfReach(`reach Computer '${name}'`);
    return own === undefined
      ? this.#context.courier.targetOf(seat)
      : this.#listener.connections.get(seat.sid);
  }

  notify(officeId: string, notification: Notification): void {
    this.#listener.deliver(officeId, notification);
    const office = this.#offices.get(officeId);
    if (office === undefined || this.#context.registration.lease === undefined) return;
    // Even if no other process is known to have members: one may just have joined.
    const { event, body } = notification;
    const text = JSON.stringify({ from: this.#context.registration.fence, event, body });
    office.notify(text).catch((error) =>
      this.#onError("failed to notify the members of other processes", error)
    );
  }

  async close(): Promise<void> {
    this.#closing.abort(new DOMException("The Server is closing", "AbortError"));
    const last = [...this.#offices.values()].map((office) => office.members());
    await settledWithin(Promise.allSettled(last), CLOSE_TIMEOUT_MS);
    await settledWithin(this.#context.registration.close(), CLOSE_TIMEOUT_MS);
    await this.#context.redis.close(CLOSE_TIMEOUT_MS);
    await this.started;
  }

  async #start(): Promise<void> {
    const { signal } = this.#closing;
    try {
      await this.#context.redis.open(signal);
      await this.#context.registration.start();
    } catch (error) {
      if (signal.aborted) return;
      this.#logger.error("failed to open Redis", { error: describeError(error) });
    }
  }

  /** Finds or adds an office. To be followed by an operation on it. */
  #open(officeId: string): SharedOffice {
    const known = this.#offices.get(officeId);
    if (known !== undefined) return known;
    const office = new SharedOffice(officeId, this.#context);
    this.#offices.set(officeId, office);
    return office;
  }

  #add(seat: OwnSeat): void {
    this.#seats.set(seat.member.sid, seat);
    const { sessionId } = seat;
    if (sessionId === undefined) return;
    this.#sessions.set(sessionId, (this.#sessions.get(sessionId) ?? new Set()).add(seat));
  }

  #remove(seat: OwnSeat): void {
    const { member: { sid }, sessionId = "" } = seat;
    if (this.#seats.get(sid) === seat) this.#seats.delete(sid);
    const seats = this.#sessions.get(sessionId);
    if (seats?.delete(seat) && seats.size === 0) this.#sessions.delete(sessionId);
  }

  async #take(seat: OwnSeat, current: OwnSeat | undefined): Promise<JoinOutcome> {
    const { member, office } = seat;
    office.ownSeats.set(member.sid, seat);
    this.#add(seat);
    try {
      return await this.#tryUntilLate(seat);
    } catch (error) {
      office.repairLater();
      // Only the reply was lost: the office has the seat, and everybody has been told.
      if (seat.state !== "joining") return { kind: "joined", member };
      throw error instanceof SmcpError ? error : outOfReach(`join office "${office.officeId}"`, error);
    } finally {
      if (seat.state === "joining") {
        office.end(seat);
        if (current !== undefined && current.state !== "ended") this.#seats.set(member.sid, current);
      }
    }
  }

  async #tryUntilLate(seat: OwnSeat): Promise<JoinOutcome> {
    const { registration, signal } = this.#context;
    const intent = `join office "${seat.office.officeId}"`;
    const endMs = performance.now() + JOIN_TIMEOUT_MS;
    while (true) {
      const result = await seat.office.take(seat, registration.requireLease(intent));
      if ("kind" in result) {
        await this.#endOlder(seat, endMs);
        return result;
      }
      if (performance.now() > endMs) throw outOfReach(intent);
      await delay(result.waitMs, signal);
    }
  }

  /** Waits until nobody acts for the older connection any more: its process says so, or its lease has ended. */
  async #endOlder({ member, older }: OwnSeat, endMs: number): Promise<void> {
    const { registration, courier, signal } = this.#context;
    if (older === undefined || registration.isOwn(older.fence)) return;
    const newer = toSeat(member, registration.fence);
    while (!await courier.endOlder(newer, older.fence, REPLACING_MS)) {
      if ((await registration.findLost([older.fence])).size > 0 || performance.now() > endMs) return;
      signal.throwIfAborted();
    }
  }

  async #takeAgain(lease: Lease): Promise<void> {
    await Promise.all([...this.#offices.values()].map(async (office) => {
      for (let wait = await office.takeAgain(lease); wait; wait = await office.takeAgain(lease)) {
        if (this.#waiting++ === 0) this.#logger.warn(WAITING, { wait_ms: wait.waitMs });
        await delay(wait.waitMs, this.#closing.signal).finally(() => this.#waiting--);
      }
    }));
  }

  /** Frees the seats of processes whose lease has ended, and has Redis keep what nobody has changed for hours. */
  async #check(): Promise<void> {
    const { registration, courier, clock } = this.#context;
    const fences = [...this.#offices.values()].flatMap(({ copy }) => copy.fences);
    const lost = await registration.findLost([...fences, ...courier.peers()]);
    for (const fence of lost) courier.onLost(fence);
    const nowMs = clock.monotonicMs();
    const isDue = nowMs - this.#readAtMs >= READ_INTERVAL_MS;
    if (isDue) this.#readAtMs = nowMs;
    if (isDue || lost.size > 0) void registration.repair();
  }

  /** Gives a seat up: here at once, since a newer connection may be answered as soon as Redis knows. */
  async #give(seat: OwnSeat, reason: "left" | "replaced"): Promise<void> {
    seat.office.end(seat, reason);
    await seat.office.tellLeft();
  }

  #replace({ sessionId, newer, exceptOffice }: MessageOf<"replace">): void {
    for (const seat of [...this.#sessions.get(sessionId) ?? []]) {
      const { member: { sid, officeId }, state } = seat;
      // A connection that is moving to another office gives its former seat up itself.
      if (state !== "taken" || this.#seats.get(sid) !== seat) continue;
      if (sid !== newer && officeId !== exceptOffice) void this.#give(seat, "replaced");
    }
  }

  #onNotice(officeId: string, text: string): void {
    const { registration } = this.#context;
    const notice = parseJson(text);
    if (!isRecord(notice) || typeof notice["event"] !== "string") return;
    // This process has delivered its own.
    if (registration.isOwn(String(notice["from"])) || !registration.lease?.isValid()) return;
    this.#listener.deliver(officeId, { event: notice["event"], body: notice["body"] });
  }

  #onError(text: string, error: unknown): void {
    this.#logger.debug(text, { error: describeError(error) });
  }
}

/** Whether this process may act for a member now. */
function isServed({ office }: OwnSeat): boolean {
  return office.lease !== undefined && office.lease.isValid();
}
