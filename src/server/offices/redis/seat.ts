/** A membership as Redis keeps it: `place fence JSON`. */
import { isRecord, parseJson } from "../../../json.ts";
import { type Member, sessionKey } from "../office.ts";
import { sessionIdOf } from "./keys.ts";

export interface Seat {
  readonly member: Member;
  readonly fence: string;
  /** Its place in the order of joining; empty until Redis has given it one. */
  readonly place: string;
  /** A digest of the session, for the replacement of lost connections. */
  readonly sessionId: string | undefined;
}

/** Makes the seat of a member that joins. The session itself stays in the process. */
export function toSeat(member: Member, fence: string): Seat {
  const key = sessionKey(member);
  return { member, fence, place: "", sessionId: key === undefined ? undefined : sessionIdOf(key) };
}

export function writeSeat({ member, fence, sessionId }: Seat): string {
  const { session: _, ...rest } = member;
  return `${fence} ${JSON.stringify({ ...rest, sessionId })}`;
}

/** Reads a seat; `undefined` for a text that another version of this program may have written. */
export function readSeat(text: string): Seat | undefined {
  const [, place, fence, json] = /^(\d+) (\S+) (\{.*\})$/s.exec(text) ?? [];
  if (place === undefined || fence === undefined || json === undefined) return undefined;
  const fields = parseJson(json);
  const member = isRecord(fields) ? readMember(fields) : undefined;
  if (member === undefined || !isRecord(fields)) return undefined;
  return { member, fence, place, sessionId: textOrNothing(fields["sessionId"]) };
}

function readMember(fields: Readonly<Record<string, unknown>>): Member | undefined {
  const { sid, role, name, officeId, principal, isObserver, joinedAt } = fields;
  if (role !== "agent" && role !== "computer") return undefined;
  if (typeof sid !== "string" || typeof name !== "string" || typeof officeId !== "string") return undefined;
  if (typeof principal !== "string" || typeof isObserver !== "boolean" || typeof joinedAt !== "string") {
    return undefined;
  }
  const version = textOrNothing(fields["version"]);
  const member = { sid, role, name, officeId, principal, isObserver, joinedAt } as const;
  return version === undefined ? member : { ...member, version };
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
