/** The claims of a JWT, as issuers write them. */
import { isRecord, isTexts } from "../json/json.ts";
import { quoted } from "../text/text.ts";

/** Finds a claim by its name, or else by a path; a name may have dots itself, as a URL has. */
export function findClaim(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name.split(".").reduce<unknown>(
    (value, key) => isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined,
    claims,
  );
}

const MAX_PRINCIPAL_LENGTH = 256;

export function isPrincipal(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_PRINCIPAL_LENGTH &&
    !/[\p{Cc}\p{Cs}]/u.test(value);
}

export function isTextOrList(claim: unknown): claim is string | readonly string[] | undefined {
  return claim === undefined || typeof claim === "string" || isTexts(claim);
}

const ALL = "*";

/** The names in a claim, or in what counts for an absent one; `undefined` for all, which is `*`. */
export function namesIn(claim: string | readonly string[]): readonly string[] | undefined {
  const names = [claim].flat();
  return names.includes(ALL) ? undefined : names.map((name) => name.normalize("NFKC"));
}

/** A claim, or another value, for the log; `undefined` for an absent one. */
export function shownClaim(claim: unknown): string | undefined {
  if (claim === undefined) return undefined;
  return quoted(typeof claim === "string" ? claim : JSON.stringify(claim));
}
