/** What a client may do: which offices it may join, and in which roles. */
import { isRecord, isTexts } from "../../json.ts";
import type { LogFields } from "../../log.ts";
import type { Role } from "../../protocol/office.ts";

/** A role that a client may be granted. `agent` includes `observer`, which may only read. */
export type GrantedRole = Role | "observer";

export const GRANTED_ROLES: readonly GrantedRole[] = ["agent", "computer", "observer"];

/** What a client may do. An absent member means everything; an empty list means nothing. An unknown member is refused. */
export interface Grant {
  /** The ids of the offices that it may join, compared as they are. */
  readonly offices?: readonly string[] | undefined;
  /** The roles that it may have. */
  readonly roles?: readonly GrantedRole[] | undefined;
}

export interface WantedSeat {
  readonly officeId: string;
  readonly role: Role;
  readonly isObserver: boolean;
}

export function isGranted(grant: Grant, { officeId, role, isObserver }: WantedSeat): boolean {
  const { offices, roles } = grant;
  const isRole = roles === undefined || roles.includes(role) || (isObserver && roles.includes("observer"));
  return isRole && (offices === undefined || offices.includes(officeId));
}

const MEMBERS: readonly string[] = ["offices", "roles"] satisfies readonly (keyof Grant)[];

/**
 * Whether a value of a provider in JavaScript is a grant. A malformed one must not count as everything, nor one with an
 * unknown member: `{ office: "lab" }` is a typing error, and not a grant of all offices.
 */
export function isGrant(value: unknown): value is Grant {
  if (!isRecord(value) || !Object.keys(value).every((key) => MEMBERS.includes(key))) return false;
  const { offices, roles } = value;
  return (offices === undefined || isTexts(offices)) &&
    (roles === undefined || (Array.isArray(roles) && roles.every(isGrantedRole)));
}

export function isGrantedRole(value: unknown): value is GrantedRole {
  return GRANTED_ROLES.some((role) => role === value);
}

const MAX_LOGGED_OFFICES = 20;

export function describeGrant({ offices = ["*"], roles = GRANTED_ROLES }: Grant): LogFields {
  return { allowed_offices: listed(offices), allowed_roles: listed(roles) };
}

function listed(items: readonly string[]): string {
  const more = items.length > MAX_LOGGED_OFFICES ? [`${items.length - MAX_LOGGED_OFFICES} more`] : [];
  return items.length === 0 ? "none" : [...items.slice(0, MAX_LOGGED_OFFICES), ...more].join(",");
}
