/**
 * The SHA-256 of a file, piece by piece: what browsers get in place of `sha256.ts`, with the same exports. The browser's
 * own SHA-256 takes no pieces.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import type { Sha256 } from "./sha256.ts";

export function startSha256(): Sha256 {
  const hash = sha256.create();
  return { update: (piece) => void hash.update(piece), toHex: () => hash.digest().toHex() };
}
