/** Bytes as text, for `data:` URLs. */

/** Bytes per call of `String.fromCharCode`, whose arguments go on the stack. */
const CHUNK = 0x8000;

/** Encodes bytes. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  }
  return btoa(binary);
}
