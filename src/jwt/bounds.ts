/** The bounds of JWTs, their keys, and the files and addresses of these. */

/** The most characters of a token. */
export const MAX_TOKEN_LENGTH = 16_384;
/** The most bytes of a file of keys. */
export const MAX_KEY_FILE_BYTES: number = 256 * 1024;
/** The most keys of a file or a set. */
export const MAX_KEYS = 100;
/** The most bytes of a set of keys at a URL, or of what an issuer tells of itself. */
export const MAX_KEY_SET_BYTES: number = 512 * 1024;
/** How long the set may take, in milliseconds. */
export const KEY_SET_TIMEOUT_MS = 5_000;
/** The least time between two requests for an unknown key, in milliseconds. */
export const KEY_SET_COOLDOWN_MS = 30_000;
/** How far the clock of an issuer may differ by default, in milliseconds. */
export const DEFAULT_CLOCK_TOLERANCE_MS = 30_000;
/** How long a token that was verified needs no new verification, in milliseconds. */
export const VERIFIED_MS = 60_000;
/** The most such tokens. */
export const MAX_VERIFIED = 1_000;
