/** The SHA-256 of a file, piece by piece. In the npm package, browsers get `sha256_web.ts` in place of this module. */
import { createHash } from "node:crypto";

/** A SHA-256 of what it has been given. */
export interface Sha256 {
  update(piece: Uint8Array): void;
  toHex(): string;
}

export function startSha256(): Sha256 {
  const hash = createHash("sha256");
  return { update: (piece) => void hash.update(piece), toHex: () => hash.digest("hex") };
}
