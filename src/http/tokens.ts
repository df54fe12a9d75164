/** Bearer tokens. The time of a comparison tells nothing about the right one. */
import { createHash, timingSafeEqual } from "node:crypto";

/** Digests have a fixed length, so that no comparison depends on the length of a token. */
export function digestOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}

/** The token of an `Authorization` header; `undefined` when it has none, or is of another scheme. */
export function readBearer(authorization: string | null | undefined): string | undefined {
  return /^Bearer +(\S.*)$/i.exec(authorization ?? "")?.[1];
}

export function isToken(shown: string, digest: Uint8Array): boolean {
  return timingSafeEqual(digestOf(shown), digest);
}
