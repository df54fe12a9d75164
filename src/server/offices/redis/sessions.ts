/** Which connection a session has: a newer one replaces it, in whatever office it is. */
import { Limiter } from "../../../async/limiter.ts";
import type { RedisConnection } from "./connection.ts";
import type { RedisKeys } from "./keys.ts";
import { FORGET_SCRIPT } from "./scripts.ts";
import { readSeat, type Seat, writeSeat } from "./seat.ts";
import { KEPT_MS } from "./shared_office.ts";

/** How many sessions are looked up or kept at the same time: after a loss of data in Redis, that may be those of all members. */
const CONCURRENCY = 64;

/** The sessions of all processes, in Redis. A seat without a session is in none of them. */
export class Sessions {
  readonly #redis: Pick<RedisConnection, "send">;
  readonly #keys: RedisKeys;
  readonly #limiter = new Limiter(CONCURRENCY);

  constructor({ redis, keys }: { readonly redis: Pick<RedisConnection, "send">; readonly keys: RedisKeys }) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** Makes a seat that of its session, and returns the seat of an older connection. */
  async take(seat: Seat): Promise<Seat | undefined> {
    const { sessionId } = seat;
    if (sessionId === undefined) return undefined;
    const key = this.#keys.session(sessionId);
    const former = await this.#redis.send(key, ["SET", key, toText(seat), "PX", String(KEPT_MS), "GET"]);
    return otherThan(seat, former);
  }

  /** Whether a newer connection has the session of a seat. Redis may have lost the session: then the seat gets it again. */
  async isReplaced(seat: Seat): Promise<boolean> {
    const { sessionId } = seat;
    if (sessionId === undefined) return false;
    const key = this.#keys.session(sessionId);
    return await this.#limiter.run(async () => {
      const isTaken = await this.#redis.send(key, ["SET", key, toText(seat), "PX", String(KEPT_MS), "NX"]);
      if (isTaken !== null) return false;
      return otherThan(seat, await this.#redis.send(key, ["GET", key])) !== undefined;
    });
  }

  /** Makes Redis remember the session of a seat for another day. */
  async keep({ sessionId }: Seat): Promise<void> {
    if (sessionId === undefined) return;
    const key = this.#keys.session(sessionId);
    await this.#limiter.run(() => this.#redis.send(key, ["PEXPIRE", key, String(KEPT_MS)]));
  }

  /** Forgets the session of a seat that was given up, unless a newer connection has it. */
  async forget({ sessionId, member }: Seat): Promise<void> {
    if (sessionId === undefined) return;
    const key = this.#keys.session(sessionId);
    const own = `"sid":${JSON.stringify(member.sid)}`;
    await this.#redis.send(key, ["EVAL", FORGET_SCRIPT, "1", key, own]);
  }
}

/** As Redis keeps a seat; its place in the order of joining does not matter here. */
function toText(seat: Seat): string {
  return `1 ${writeSeat(seat)}`;
}

function otherThan({ member }: Seat, text: unknown): Seat | undefined {
  const seat = typeof text === "string" ? readSeat(text) : undefined;
  return seat?.member.sid === member.sid ? undefined : seat;
}
