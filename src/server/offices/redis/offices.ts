/** The offices of a Server that is several processes: in Redis. */
import { delay } from "../../../async/backoff.ts";
import { settledWithin } from "../../../async/abortable.ts";
import { isRecord, parseJson } from "../../../json.ts";
import { SmcpError } from "../../../protocol/errors.ts";
import { describeError } from "../../../text.ts";
import type { Target } from "../../relay/connection.ts";
import { isSameMembership, type JoinOutcome, type Member, refuseMove } from "../office.ts";
import {
  type Notification,
  type OfficeBounds,
  type OfficeListener,
  type Offices,
  outOfReach,
} from "../offices.ts";
import { openRedis, type RedisConnection } from "./connection.ts";
import { Courier, type CourierBounds } from "./courier.ts";
import { HeldSeat, HeldSeats } from "./held_seats.ts";
import { RedisKeys } from "./keys.ts";
import type { Lease, LeaseClock } from "./lease.ts";
import { parseRedisUrl, type RedisSettings } from "./settings.ts";
import { Registration } from "./registration.ts";
import { type Seat, toSeat } from "./seat.ts";
import { Sessions } from "./sessions.ts";
import { NOTICE } from "./shared_office.ts";
import { takeSeat } from "./taking.ts";

/** How long a join may wait for Redis to settle, or for the lease of another process to end. */
const JOIN_TIMEOUT_MS = 15_000;
/** How long the last changes may take when the Server closes. */
const CLOSE_TIMEOUT_MS = 2_000;

export interface RedisOfficesContext extends CourierBounds, OfficeBounds {
  readonly listener: OfficeListener;
  readonly clock?: LeaseClock;
}

export class RedisOffices implements Offices {
  /** Resolves when this process is registered for the first time. */
  readonly started: Promise<void>;
  readonly #context: RedisOfficesContext;
  readonly #leaseMs: number;
  readonly #keys: RedisKeys;
  readonly #redis: LateRedis;
  readonly #held: HeldSeats;
  readonly #sessions: Sessions;
  readonly #courier: Courier;
  readonly #registration: Registration;
  readonly #targets = new WeakMap<Seat, Target>();
  readonly #closing = new AbortController();

  constructor({ url, prefix, heartbeatMs, leaseMs }: RedisSettings, context: RedisOfficesContext) {
    const { listener, logger } = context;
    this.#context = context;
    this.#leaseMs = leaseMs;
    const { isCluster, database } = parseRedisUrl(url);
    // Channels do not belong to a database.
    const keys = this.#keys = new RedisKeys(`${prefix}:${database}`);
    const redis = this.#redis = new LateRedis(isCluster ? "SPUBLISH" : "PUBLISH");
    const onError = (error: unknown) =>
      logger.debug("failed to follow an office in Redis", { error: describeError(error) });
    this.#held = new HeldSeats(listener, {
      context: { redis, keys, onError, onNotice: (officeId, text) => this.#onNotice(officeId, text) },
      onMissing: () => void this.#registration.repair(),
      onMoved: (fence) => this.#courier.onLost(fence),
    });
    this.#sessions = new Sessions({ redis, keys });
    const onEvicted = (sid: string) => this.#evict(sid);
    this.#courier = new Courier(this.#toCourierOffice(onEvicted), context);
    this.#registration = new Registration({
      ...context,
      redis,
      keys,
      courier: this.#courier,
      sessions: this.#sessions,
      leaseMs,
      heartbeatMs,
      held: this.#held,
      onEvicted,
      onMessage: (text) => this.#courier.receive(text),
    });
    this.started = this.#start({ url, heartbeatMs });
  }

  get size(): number {
    return this.#held.offices().length;
  }

  get unready(): string | undefined {
    if (!this.#redis.isUp || !this.#registration.lease?.isHeld()) return "cannot reach Redis";
    return this.#registration.isWaiting ? "waiting, since Redis has restarted" : undefined;
  }

  async join(candidate: Member): Promise<JoinOutcome> {
    const { sid, officeId } = candidate;
    const current = this.#held.seat(sid);
    if (current !== undefined && isSameMembership(current.member, candidate)) {
      if (current.isServed()) return { kind: "unchanged", member: current.member };
      throw outOfReach(`join office "${officeId}"`);
    }
    const refusal = refuseMove(candidate, current?.member);
    if (refusal !== undefined) return { kind: "refused", ...refusal };
    // First: an office that was opened must be retired again.
    const lease = this.#requireLease(officeId);
    const seat = new HeldSeat(candidate, { place: this.#held.open(officeId), lease });
    try {
      return await this.#take(seat, current);
    } finally {
      this.#held.retire(seat.place);
    }
  }

  async leave(sid: string): Promise<Member | undefined> {
    const seat = this.#held.seat(sid);
    if (seat === undefined) return undefined;
    await this.#give(seat);
    this.#forgetSession(seat);
    return seat.member;
  }

  async members(officeId: string): Promise<readonly Member[]> {
    const place = this.#held.open(officeId);
    try {
      return await place.office.run(() => Promise.resolve(place.office.copy.office.members()));
    } catch (error) {
      throw outOfReach(`list office "${officeId}"`, error);
    } finally {
      this.#held.retire(place);
    }
  }

  isServing(sid: string): boolean {
    return this.#held.seat(sid)?.isServed() ?? false;
  }

  findComputer(officeId: string, name: string): Target | undefined {
    const place = this.#held.find(officeId);
    const sid = place?.office.copy.office.findComputer(name)?.sid;
    if (place === undefined || sid === undefined) return undefined;
    const own = place.seats.get(sid);
    const isReachable = own === undefined ? this.#redis.isUp : own.isServed();
    if (!isReachable) throw outOfReach(`reach Computer '${name}'`);
    if (own !== undefined) return this.#context.listener.connection(sid);
    const seat = place.office.copy.seat(sid);
    return seat && this.#targetOf(seat);
  }

  notify(officeId: string, notification: Notification): void {
    const { listener, logger } = this.#context;
    listener.deliver(officeId, notification);
    const office = this.#held.find(officeId)?.office;
    const fence = this.#registration.lease?.fence;
    if (office === undefined || fence === undefined) return;
    // Even if no other process is known to have members: one may just have joined.
    const { event, body, except } = notification;
    const sender = except === undefined ? undefined : listener.connection(except);
    office.publish(`${NOTICE}${JSON.stringify({ from: fence, event, body })}`).catch((error) => {
      const text = "failed to notify the members of other processes";
      const fields = { event, error: describeError(error) };
      // Within the bound of its sender, which may send many while Redis is away.
      if (sender === undefined) logger.debug(text, fields);
      else sender.log.write("warn", text, fields);
    });
  }

  async close(): Promise<void> {
    this.#closing.abort(new DOMException("The Server is closing", "AbortError"));
    const last = this.#held.offices().map(({ office }) => office.run(() => Promise.resolve()));
    await settledWithin(Promise.allSettled(last), CLOSE_TIMEOUT_MS);
    const closed = this.#registration.close().catch((error) => {
      this.#context.logger.debug("failed to end the lease in Redis", { error: describeError(error) });
    });
    await settledWithin(closed, CLOSE_TIMEOUT_MS);
    this.#redis.close();
    await this.started;
  }

  async #start(options: { readonly url: string; readonly heartbeatMs: number }): Promise<void> {
    const { logger } = this.#context;
    const { signal } = this.#closing;
    try {
      const hadTouch = () => this.#registration.lease !== undefined;
      const onAway = () => this.#courier.failOutgoing();
      const onRestored = () => void this.#registration.renew();
      const connection = await openRedis({ ...options, logger, onAway, onRestored, hadTouch }, signal);
      if (signal.aborted) return connection.close();
      this.#redis.open(connection);
      await this.#registration.start();
    } catch (error) {
      if (!signal.aborted) logger.error("failed to open Redis", { error: describeError(error) });
    }
  }

  async #take(seat: HeldSeat, current: HeldSeat | undefined): Promise<JoinOutcome> {
    this.#held.add(seat);
    const outcome = await this.#tryToJoin(seat, current);
    if (outcome.kind === "joined") await this.#endFormer(seat, current);
    if (seat.lease !== this.#registration.lease) void this.#registration.repair();
    return outcome;
  }

  async #tryToJoin(seat: HeldSeat, current: HeldSeat | undefined): Promise<JoinOutcome> {
    const { member, place } = seat;
    try {
      return await this.#tryUntilLate(seat);
    } catch (error) {
      place.unsettled.add(seat);
      void this.#registration.repair();
      // Only the reply was lost: the office has the seat, and everybody has been told.
      if (seat.state !== "joining") return { kind: "joined", member };
      throw error instanceof SmcpError ? error : outOfReach(`join office "${member.officeId}"`, error);
    } finally {
      this.#held.abandon(seat, current);
    }
  }

  async #tryUntilLate(seat: HeldSeat): Promise<JoinOutcome> {
    const { place, member } = seat;
    const endMs = performance.now() + JOIN_TIMEOUT_MS;
    while (true) {
      seat.lease = this.#requireLease(member.officeId);
      const attempt = await place.office.run(() => takeSeat(this.#registration.taking, seat));
      if ("outcome" in attempt) return attempt.outcome;
      if (performance.now() > endMs) throw outOfReach(`join office "${member.officeId}"`);
      await delay(attempt.waitMs, this.#closing.signal);
    }
  }

  /** Ends the former membership of the connection, and that of an older connection of its session in another office. */
  async #endFormer(seat: HeldSeat, current: HeldSeat | undefined): Promise<void> {
    if (current !== undefined) await this.#give(current);
    try {
      await this.#replaceElsewhere(seat);
    } catch (error) {
      this.#context.logger.debug("failed to replace an older connection", { error: describeError(error) });
    }
  }

  async #replaceElsewhere({ member, lease }: HeldSeat): Promise<void> {
    const ghost = await this.#sessions.take(toSeat(member, lease.fence));
    if (ghost === undefined || ghost.member.officeId === member.officeId) return;
    const place = this.#held.open(ghost.member.officeId);
    try {
      await place.office.run(async () => {
        const present = place.office.copy.seat(ghost.member.sid);
        if (present === undefined || present.sessionId !== ghost.sessionId) return;
        await place.office.change({ removed: [[present, "replaced"]] });
      });
    } finally {
      this.#held.retire(place);
    }
  }

  /** Frees the place of a session in Redis, without waiting, unless another connection of it has joined. */
  #forgetSession({ member, lease }: HeldSeat): void {
    this.#sessions.forget(toSeat(member, lease.fence)).catch((error) => {
      this.#context.logger.debug("failed to forget a session in Redis", { error: describeError(error) });
    });
  }

  /** Gives a seat up. While Redis is away, it is given up here at once, and in Redis later. */
  async #give(seat: HeldSeat): Promise<void> {
    const { member: { sid }, place } = seat;
    const { office } = place;
    seat.state = "leaving";
    try {
      if (!this.#redis.isUp) throw new TypeError("Cannot leave an office: Redis is away");
      await office.run(async () => {
        const present = office.copy.seat(sid);
        if (present !== undefined) await office.change({ removed: [[present, "left"]] });
      });
    } catch (error) {
      place.unsettled.add(seat);
      void this.#registration.repair();
      this.#context.logger.debug("failed to leave an office in Redis", { error: describeError(error) });
    }
    if (office.copy.seat(sid) !== undefined) office.copy.drop(sid, "left");
    this.#held.end(seat, "left");
    this.#held.retire(place);
  }

  #requireLease(officeId: string): Lease {
    const { lease } = this.#registration;
    if (this.#redis.isUp && lease?.isHeld()) return lease;
    throw outOfReach(`join office "${officeId}"`);
  }

  #targetOf(seat: Seat): Target {
    const known = this.#targets.get(seat);
    if (known !== undefined) return known;
    const target = this.#courier.toTarget(seat);
    this.#targets.set(seat, target);
    return target;
  }

  #evict(sid: string): void {
    const seat = this.#held.seat(sid);
    if (seat !== undefined) seat.evictedUntilMs = performance.now() + this.#leaseMs;
  }

  #onNotice(officeId: string, text: string): void {
    const { lease } = this.#registration;
    const notice = parseJson(text.slice(NOTICE.length));
    if (!isRecord(notice) || typeof notice["event"] !== "string" || typeof notice["from"] !== "string") {
      return;
    }
    if (this.#registration.isOwn(notice["from"]) || !lease?.isHeld()) return;
    this.#context.listener.deliver(officeId, { event: notice["event"], body: notice["body"] });
  }

  #toCourierOffice(onEvicted: (sid: string) => void) {
    const fence = () => this.#registration.lease?.fence ?? "";
    const { listener } = this.#context;
    return {
      get fence() {
        return fence();
      },
      connection: (sid: string) => listener.connection(sid),
      isServing: (sid: string) => this.isServing(sid),
      publish: async (to: string, message: string) => {
        return Number(await this.#redis.publish(this.#keys.processChannel(to), message));
      },
      onEvicted,
    };
  }
}

/** A connection to Redis that may not be open yet. */
class LateRedis implements RedisConnection {
  readonly publishCommand: RedisConnection["publishCommand"];
  #connection: RedisConnection | undefined;

  constructor(publishCommand: RedisConnection["publishCommand"]) {
    this.publishCommand = publishCommand;
  }

  get isUp(): boolean {
    return this.#connection?.isUp ?? false;
  }

  open(connection: RedisConnection): void {
    this.#connection = connection;
  }

  send(key: string, command: readonly string[]): Promise<unknown> {
    return this.#connection?.send(key, command) ?? Promise.reject(notOpen());
  }

  publish(channel: string, message: string): Promise<unknown> {
    return this.#connection?.publish(channel, message) ?? Promise.reject(notOpen());
  }

  published(): Promise<void> {
    return this.#connection?.published() ?? Promise.reject(notOpen());
  }

  subscribe(channel: string, onMessage: (message: string) => void): Promise<void> {
    return this.#connection?.subscribe(channel, onMessage) ?? Promise.reject(notOpen());
  }

  unsubscribe(channel: string): Promise<void> {
    return this.#connection?.unsubscribe(channel) ?? Promise.reject(notOpen());
  }

  close(): void {
    this.#connection?.close();
  }
}

function notOpen(): TypeError {
  return new TypeError("Cannot use Redis: the connection is not open yet");
}
