/** What the claims of a JWT allow. Pure. */
import { isRecord, isTexts } from "../../json.ts";
import { shorten } from "../../text.ts";
import { JWT_ROWS } from "../options/credential_rows.ts";
import { type Grant, GRANTED_ROLES, type GrantedRole, isGrantedRole } from "./grant.ts";
import type { AuthRefusal } from "./provider.ts";

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

const MAX_PRINCIPAL_LENGTH = 256;
const MAX_LOGGED_LENGTH = 200;
const ALL = "*";

/** Reads the claims. A claim of a wrong type is refused: it must not count as absent. */
export function readClaims(
  claims: Readonly<Record<string, unknown>>,
  options: ClaimOptions,
): AuthRefusal | { readonly principal: string; readonly grant: Grant } {
  const {
    principalClaim = JWT_ROWS.jwtPrincipalClaim.default,
    officesClaim = JWT_ROWS.jwtOfficesClaim.default,
    rolesClaim = JWT_ROWS.jwtRolesClaim.default,
    defaultOffices = [],
    defaultRoles = GRANTED_ROLES,
  } = options;
  const refuse = (refused: string, found: unknown): AuthRefusal => ({
    refused,
    log: { sub: shown(claims["sub"]), found: shown(found) },
  });
  const [principal, offices, roles] = [principalClaim, officesClaim, rolesClaim].map((name) =>
    findClaim(claims, name)
  );
  if (!isPrincipal(principal)) return refuse(`the token has no usable claim "${principalClaim}"`, principal);
  if (!isTextOrList(offices)) return refuse(`the token has an invalid claim "${officesClaim}"`, offices);
  if (!isTextOrList(roles)) return refuse(`the token has an invalid claim "${rolesClaim}"`, roles);
  const allowed = typeof offices === "string" ? [offices] : offices ?? defaultOffices;
  const named = typeof roles === "string" ? roles.split(/\s+/) : roles ?? defaultRoles;
  return {
    principal,
    grant: {
      ...(allowed.includes(ALL) ? {} : { offices: allowed.map((office) => office.normalize("NFKC")) }),
      // A token may have roles of other programs as well.
      roles: named.filter(isGrantedRole),
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

function isTextOrList(claim: unknown): claim is string | readonly string[] | undefined {
  return claim === undefined || typeof claim === "string" || isTexts(claim);
}

/** A claim, or another value, for the log; `undefined` for an absent one. */
export function shown(claim: unknown): string | undefined {
  if (claim === undefined) return undefined;
  const isPlain = typeof claim !== "object" || isTexts(claim);
  return shorten(isPlain ? String(claim) : JSON.stringify(claim), MAX_LOGGED_LENGTH);
}
