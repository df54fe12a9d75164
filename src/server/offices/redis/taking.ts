/** Taking seats: the rules of `Office` for the version that this process knows, then a change if that version still holds. */
import { Office } from "../office.ts";
import type { JoinOutcome } from "../office.ts";
import type { Courier } from "./courier.ts";
import type { HeldOffice, HeldSeat } from "./held_seats.ts";
import type { RedisKeys } from "./keys.ts";
import { keptMsOf, type Lease } from "./lease.ts";
import type { RedisConnection } from "./connection.ts";
import { type Seat, toSeat } from "./seat.ts";
import type { Sessions } from "./sessions.ts";
import type { LeaveReason } from "./office_copy.ts";

/** How many changes of others may come in between before a change is given up. */
const MAX_CONFLICTS = 64;
/** Redis tells its uptime in whole seconds. */
const UPTIME_STEP_MS = 1_000;
/** How long another process may take to confirm that it stops acting for a connection. */
const EVICTION_MS = 500;
/** How often it is asked again, while its lease lasts. */
const EVICTION_PAUSE_MS = 100;

export interface TakingContext {
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  readonly courier: Courier;
  readonly sessions: Sessions;
  readonly leaseMs: number;
  readonly maxMembersPerOffice: number;
  isOwn(fence: string): boolean;
  /** Stops acting for a connection for a while; a newer one takes its place. */
  onEvicted(sid: string): void;
}

/** The result of an attempt: an outcome, or a time to wait before the next attempt. */
export type Attempt<T> = { readonly outcome: T } | { readonly waitMs: number };

/** The error when other processes changed the office all the time. */
function contention(officeId: string): TypeError {
  return new TypeError(
    `Cannot change office "${officeId}": other processes changed it ${MAX_CONFLICTS} times meanwhile`,
  );
}

export async function takeSeat(context: TakingContext, held: HeldSeat): Promise<Attempt<JoinOutcome>> {
  const { member, place, lease } = held;
  const { office } = place;
  const seat = toSeat(member, lease.fence);
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
    const ghost = office.copy.findSession(seat);
    // Of an earlier attempt of this connection, whose reply was lost.
    const own = office.copy.seat(member.sid);
    const leaving = [ghost?.member, own?.member];
    const refusal = office.copy.office.refuse(member, leaving, context.maxMembersPerOffice);
    if (refusal !== undefined) {
      // The copy may be behind, and the holder of the seat may be a process that has ended.
      if (await office.refresh() || await reap(context, place)) continue;
      return { outcome: { kind: "refused", ...refusal } };
    }
    if (ghost !== undefined && !await isEvicted(context, ghost)) return { waitMs: EVICTION_PAUSE_MS };
    const removed: [Seat, LeaveReason][] = [];
    if (ghost !== undefined) removed.push([ghost, "replaced"]);
    if (own !== undefined) removed.push([own, "left"]);
    const result = await office.change({
      removed,
      taken: [seat],
      leastUptimeMs: leastUptimeOf(context),
    });
    if (result.kind === "ok") return { outcome: { kind: "joined", member } };
    if (result.kind === "settling") return result;
  }
  throw contention(office.officeId);
}

/** Whether nobody acts for a seat any more, so that it can be given to a newer connection. */
async function isEvicted(context: TakingContext, seat: Seat): Promise<boolean> {
  const { courier, isOwn, onEvicted } = context;
  if (isOwn(seat.fence)) {
    onEvicted(seat.member.sid);
    return true;
  }
  return !await isAlive(context, seat.fence) || await courier.evict(seat, EVICTION_MS);
}

export type GivenSeat = readonly [seat: HeldSeat, reason: LeaveReason];

/**
 * Takes all seats of an office again under a lease, and resolves to those that were given away. To be run as an operation
 * of the office. For seats whose former lease still lasts, it does not wait for leases that a restarted Redis has
 * forgotten: no other process can have these seats.
 */
export async function takeSeatsAgain(
  context: TakingContext,
  place: HeldOffice,
  lease: Lease,
): Promise<Attempt<readonly GivenSeat[]>> {
  const { office, unsettled } = place;
  const settled = [...unsettled];
  await office.refresh();
  await reap(context, place);
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
    const replaced = await findReplaced(context, place, lease);
    const { moved, taken, given, kept, isContinued } = plan(place, lease, replaced);
    const result = moved.length + taken.length === 0 ? { kind: "ok" } as const : await office.change({
      taken: [...moved, ...taken],
      leastUptimeMs: !isContinued ? leastUptimeOf(context) : 0,
    });
    if (result.kind === "settling") return result;
    if (result.kind !== "ok") continue;
    for (const held of kept) held.lease = lease;
    for (const held of settled) unsettled.delete(held);
    return { outcome: given };
  }
  throw contention(office.officeId);
}

/**
 * Finds the seats that Redis lacks because a newer connection of their session has joined, here or in another office. The
 * message that told so may not have reached this process.
 */
async function findReplaced(
  { sessions }: TakingContext,
  { office: { copy }, seats }: HeldOffice,
  { fence }: Lease,
): Promise<ReadonlySet<HeldSeat>> {
  const replaced = new Set<HeldSeat>();
  await Promise.all([...seats.values()].map(async (held) => {
    const { member, state } = held;
    if (state !== "held" || copy.seat(member.sid) !== undefined) return;
    const seat = toSeat(member, fence);
    if (copy.findSession(seat) !== undefined || await sessions.isReplaced(seat)) replaced.add(held);
  }));
  return replaced;
}

/** Divides the held seats of an office into those that Redis has, those that it lost, and those that were given away. */
function plan({ office: { copy }, seats }: HeldOffice, { fence }: Lease, replaced: ReadonlySet<HeldSeat>) {
  const trial = new Office();
  for (const member of copy.office.everybody()) trial.add(member);
  const moved: Seat[] = [];
  const taken: Seat[] = [];
  const given: GivenSeat[] = [];
  const kept: HeldSeat[] = [];
  let isContinued = true;
  for (const held of seats.values()) {
    // A join that is under way takes its seat itself.
    if (held.state !== "held") continue;
    const { member } = held;
    const present = copy.seat(member.sid);
    if (present !== undefined) {
      if (present.fence !== fence) moved.push({ ...present, fence });
    } else if (replaced.has(held)) {
      given.push([held, "replaced"]);
      continue;
    } else if (trial.refuse(member, []) !== undefined) {
      given.push([held, "lost"]);
      continue;
    } else {
      trial.add(member);
      taken.push(toSeat(member, fence));
      isContinued &&= held.lease.isHeld();
    }
    kept.push(held);
  }
  return { moved, taken, given, kept, isContinued };
}

/**
 * Removes the seats of processes whose lease has ended, and those of this process that nobody holds; resolves to whether
 * there were any. To be run as an operation of the office.
 */
export async function reap(context: TakingContext, place: HeldOffice): Promise<boolean> {
  const { office, seats } = place;
  const others = [...office.copy.fences].filter((fence) => !context.isOwn(fence));
  const dead = new Set<string>();
  await Promise.all(others.map(async (fence) => {
    if (!await isAlive(context, fence)) dead.add(fence);
  }));
  const isOrphan = ({ fence, member }: Seat) => context.isOwn(fence) && !seats.has(member.sid);
  const removed = office.copy.seats()
    .filter((seat) => dead.has(seat.fence) || isOrphan(seat))
    .map((seat): [Seat, LeaveReason] => [seat, "lost"]);
  for (const fence of dead) context.courier.onLost(fence);
  if (removed.length === 0) return false;
  await office.change({ removed });
  return true;
}

/** Whether the lease of a process lasts. Once it has ended, it never comes back. */
export async function isAlive({ redis, keys }: TakingContext, fence: string): Promise<boolean> {
  const key = keys.lease(fence);
  return await redis.send(key, ["EXISTS", key]) !== 0;
}

function leastUptimeOf({ leaseMs }: TakingContext): number {
  return keptMsOf(leaseMs) + UPTIME_STEP_MS;
}
