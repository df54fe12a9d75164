/** What Redis keeps of the offices: the names of keys and channels, seats as text, and the scripts. */
import { createHash } from "node:crypto";
import { isRecord, parseJson } from "../../../json/json.ts";
import { type Member, sessionKey } from "../office.ts";

/** How long Redis keeps an office that no process reads or changes: a day. */
export const KEPT_MS = 86_400_000;
/** In place of a fence: the channel of all processes. */
export const ALL_PROCESSES = "all";

/** The names of keys and channels. */
export function redisKeys(prefix: string) {
  // All keys of an office have one hash tag, hence one slot. Braces are escaped, so that the tag ends where it should.
  const tagged = (officeId: string) => `${prefix}:{office.${encodeURIComponent(officeId)}}`;
  return {
    /** The hash of an office: its version and its seats. */
    office: (officeId: string) => `${tagged(officeId)}:seats`,
    /** The channel of an office: its changes and notifications. */
    officeChannel: (officeId: string) => `${tagged(officeId)}:news`,
    /** The key that exists as long as the lease of a process. */
    lease: (fence: string) => `${prefix}:lease:${fence}`,
    processChannel: (fence: string) => `${prefix}:process:${fence}`,
  };
}

export type RedisKeys = ReturnType<typeof redisKeys>;

/** A membership as Redis keeps it: `place fence JSON`. */
export interface Seat extends Member {
  readonly fence: string;
  /** Its place in the order of joining; empty until Redis has given it one. */
  readonly place: string;
  /** A digest of the session, for the replacement of lost connections. */
  readonly sessionId?: string | undefined;
}

/** Makes the seat of a member that joins. Redis gets a digest: the session would let its reader take the member's place. */
export function toSeat({ session, ...member }: Member, fence: string): Seat {
  const key = sessionKey({ session, ...member });
  return {
    ...member,
    fence,
    place: "",
    sessionId: key && createHash("sha256").update(key).digest("base64url"),
  };
}

/** Writes a seat without its place, which Redis puts before it. */
export function writeSeat({ fence, place: _, ...fields }: Seat): string {
  return `${fence} ${JSON.stringify(fields)}`;
}

const TEXT_FIELDS = ["sid", "name", "officeId", "principal", "joinedAt"];

/** Reads a seat; `undefined` for a text that another version of this program may have written. */
export function readSeat(text: string): Seat | undefined {
  const [, place, fence, json = ""] = /^(\d+) (\S+) (\{.*\})$/s.exec(text) ?? [];
  const fields = parseJson(json);
  if (!isRecord(fields) || !TEXT_FIELDS.every((name) => typeof fields[name] === "string")) return undefined;
  if (fields["role"] !== "agent" && fields["role"] !== "computer") return undefined;
  return { ...fields, fence, place } as unknown as Seat;
}

/** The seconds since the start of this Redis; `nil` where it does not say. */
const UPTIME = `local info = redis.pcall('INFO', 'server')
  local uptime = type(info) == 'string' and string.match(info, 'uptime_in_seconds:(%d+)')`;

/**
 * Whether a lease has ended: `1` or `0`. `KEYS`: the lease. `ARGV`: the least uptime of its node in milliseconds, since a node
 * that has restarted has forgotten leases that are still held. In a cluster it may be another node than that of an office.
 */
export const IS_LOST_SCRIPT = `
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
${UPTIME}
if uptime and uptime * 1000 < tonumber(ARGV[1]) then
  return 0
end
return 1`;

/**
 * Changes the seats of an office if its version is the expected one, and publishes the change.
 *
 * `KEYS`: the office, its channel. `ARGV`: the expected version (`0` for no office, empty for any); the least uptime of
 * Redis in milliseconds, since after a restart a process may still hold a lease that Redis has forgotten; the time to live
 * of the office in milliseconds; the command to publish; the number of seats to remove, and for each its `sid`, its fence
 * and the reason; then for each seat to set its `sid`, its place in the order of joining (empty for the last), and its fence
 * and JSON separated by a space.
 *
 * Versions only grow, also when an office is deleted and created again: the first one is the time. The reply is `ok` and the
 * change as it was published (empty if nothing changed: then Redis only keeps the office for longer), `conflict`, the version, and
 * the fields of the office, or `settling` and the milliseconds to wait.
 */
export const CHANGE_SCRIPT = `
local version = redis.call('HGET', KEYS[1], 'v') or '0'
if ARGV[1] ~= '' and ARGV[1] ~= version then
  local reply = redis.call('HGETALL', KEYS[1])
  table.insert(reply, 1, version)
  table.insert(reply, 1, 'conflict')
  return reply
end
if ARGV[2] ~= '0' then
  ${UPTIME}
  if uptime and uptime * 1000 < tonumber(ARGV[2]) then
    return {'settling', tostring(ARGV[2] - uptime * 1000)}
  end
end
local after
if version == '0' then
  local time = redis.call('TIME')
  after = string.format('%.0f', time[1] * 1000000 + time[2])
else
  after = string.format('%.0f', version + 1)
end
local news = {}
local at = 6
for _ = 1, tonumber(ARGV[5]) do
  local field = 's:' .. ARGV[at]
  local seat = redis.call('HGET', KEYS[1], field)
  if seat and string.match(seat, '^%S+ (%S+) ') == ARGV[at + 1] then
    redis.call('HDEL', KEYS[1], field)
    news[#news + 1] = '-' .. ARGV[at + 2] .. ' ' .. seat
  end
  at = at + 3
end
while at <= #ARGV do
  local place = ARGV[at + 1]
  if place == '' then place = after end
  local seat = place .. ' ' .. ARGV[at + 2]
  redis.call('HSET', KEYS[1], 's:' .. ARGV[at], seat)
  news[#news + 1] = '+' .. seat
  at = at + 3
end
if #news == 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return {'ok', ''}
end
if redis.call('HLEN', KEYS[1]) == redis.call('HEXISTS', KEYS[1], 'v') then
  redis.call('DEL', KEYS[1])
  after = '0'
else
  redis.call('HSET', KEYS[1], 'v', after)
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
local change = 'change ' .. version .. ' ' .. after .. '\\n' .. table.concat(news, '\\n')
redis.call(ARGV[4], KEYS[2], change)
return {'ok', change}
`;
