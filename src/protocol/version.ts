/** The protocol version, and which versions are compatible. */

/** The protocol version that this package speaks, sent as `a2c_version` in the URL query of every connection. */
export const PROTOCOL_VERSION = "0.2.0";

/** The name of the URL query parameter that carries the client's protocol version. */
export const VERSION_QUERY_PARAMETER = "a2c_version";

/** A parsed protocol version. */
export interface ProtocolVersion {
  /** Must be equal for two peers. */
  readonly major: number;
  /** Must be equal for two peers while `major` is 0. */
  readonly minor: number;
  /** Does not affect compatibility. */
  readonly patch: number;
}

const VERSION_PATTERN = /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/;

/**
 * Parses `MAJOR.MINOR.PATCH`.
 *
 * @param raw The version as written.
 * @return The three numbers, or `undefined` when `raw` has another form.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { parseProtocolVersion } from "@a2c-smcp/sdk";
 *
 * assertEquals(parseProtocolVersion("0.2.0"), { major: 0, minor: 2, patch: 0 });
 * assertEquals(parseProtocolVersion("0.2"), undefined);
 * ```
 */
export function parseProtocolVersion(raw: string): ProtocolVersion | undefined {
  const match = VERSION_PATTERN.exec(raw);
  if (match === null) return undefined;
  const [, major, minor, patch] = match;
  return { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

/** The `MAJOR.MINOR` of a version, which must be equal for two peers. */
export function minorOf(version: ProtocolVersion): string {
  return `${version.major}.${version.minor}`;
}
