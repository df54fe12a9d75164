/** What the claims of a JWT allow. Pure. */
import { isRecord } from "../../json.ts";
import { type Grant, GRANTED_ROLES, type GrantedRole, isGrantedRole } from "./grant.ts";

/** The names of the claims, and what counts where one is absent. */
export interface ClaimOptions {
  /** The claim with the principal; `sub` by default. */
  readonly principalClaim?: string | undefined;
  /** The claim with the offices, a text or a list, `*` for all; `a2c_offices` by default. A path such as `app.offices` is read as well. */
  readonly officesClaim?: string | undefined;
  /** The claim with the roles, a list, or a text with spaces between them; `a2c_roles` by default. */
  readonly rolesClaim?: string | undefined;
  /** The offices of a token without that claim, `*` for all; none by default. */
  readonly defaultOffices?: readonly string[] | undefined;
  /** The roles of a token without that claim; all by default. */
  readonly defaultRoles?: readonly GrantedRole[] | undefined;
}

export type ClaimsReading =
  | { readonly principal: string; readonly grant: Grant }
  | { readonly refused: string; readonly found: unknown };

export const DEFAULT_OFFICES_CLAIM = "a2c_offices";
export const DEFAULT_ROLES_CLAIM = "a2c_roles";
export const DEFAULT_CLOCK_TOLERANCE_MS = 30_000;
const MAX_PRINCIPAL_LENGTH = 256;
const ALL = "*";

/** Reads the claims. A claim of a wrong type is refused: it must not count as absent. */
export function readClaims(claims: Readonly<Record<string, unknown>>, options: ClaimOptions): ClaimsReading {
  const {
    principalClaim = "sub",
    officesClaim = DEFAULT_OFFICES_CLAIM,
    rolesClaim = DEFAULT_ROLES_CLAIM,
    defaultOffices = [],
    defaultRoles = GRANTED_ROLES,
  } = options;
  const principal = findClaim(claims, principalClaim);
  if (!isPrincipal(principal)) {
    return { refused: `the token has no usable claim "${principalClaim}"`, found: principal };
  }
  const foundOffices = findClaim(claims, officesClaim);
  const offices = readTexts(foundOffices, (text) => [text]) ?? defaultOffices;
  if (offices === "invalid") {
    return { refused: `the token has an invalid claim "${officesClaim}"`, found: foundOffices };
  }
  const foundRoles = findClaim(claims, rolesClaim);
  const roles = readTexts(foundRoles, splitWords) ?? defaultRoles;
  if (roles === "invalid") {
    return { refused: `the token has an invalid claim "${rolesClaim}"`, found: foundRoles };
  }
  return {
    principal,
    grant: {
      ...(offices.includes(ALL) ? {} : { offices: offices.map((office) => office.normalize("NFKC")) }),
      // A token may have roles of other programs as well.
      roles: roles.filter(isGrantedRole),
    },
  };
}

/** Finds a claim by its name, or else by a path; a name may have dots itself, as a URL has. */
function findClaim(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const key of name.split(".")) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

function isPrincipal(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_PRINCIPAL_LENGTH &&
    !/[\p{Cc}\p{Cs}]/u.test(value);
}

/** `undefined` for an absent claim. */
function readTexts(
  claim: unknown,
  split: (text: string) => readonly string[],
): readonly string[] | "invalid" | undefined {
  if (claim === undefined) return undefined;
  if (typeof claim === "string") return split(claim);
  const isList = Array.isArray(claim) && claim.every((item) => typeof item === "string");
  return isList ? claim : "invalid";
}

function splitWords(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
