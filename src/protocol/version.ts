/** The protocol versions, and which of them are compatible (`docs/protocol/versions.md`). */

/** The protocol version that this package speaks by default, sent as `a2c_version` in the URL query of a connection. */
export const PROTOCOL_VERSION = "0.2.0";

/** The `MAJOR.MINOR` of a protocol version that an Agent and a Computer of this package speak. */
export type ProtocolMinor = "0.2" | "0.3" | "0.4";

/** The default of an Agent and a Computer. */
export const DEFAULT_PROTOCOL: ProtocolMinor = "0.2";

/** Every `MAJOR.MINOR` that an Agent and a Computer of this package speak, lowest first. */
export const PROTOCOL_MINORS: readonly ProtocolMinor[] = ["0.2", "0.3", "0.4"];

/** The version that is sent for each `MAJOR.MINOR`. */
export const PROTOCOL_VERSIONS: Readonly<Record<ProtocolMinor, string>> = {
  "0.2": PROTOCOL_VERSION,
  "0.3": "0.3.1",
  "0.4": "0.4.0",
};

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

/** The `MAJOR.MINOR` of this text; `undefined` when this package does not speak it. */
export function toProtocolMinor(text: string | undefined): ProtocolMinor | undefined {
  return PROTOCOL_MINORS.find((minor) => minor === text);
}

/** Whether a `MAJOR.MINOR` is `first` or a later one. */
export function isFrom(minor: ProtocolMinor, first: ProtocolMinor): boolean {
  return PROTOCOL_MINORS.indexOf(minor) >= PROTOCOL_MINORS.indexOf(first);
}

/** Whether the version of a peer has this `MAJOR.MINOR` or a later one, also one that this package does not speak. */
export function isVersionFrom(version: string | undefined, first: ProtocolMinor): boolean {
  const [least, given] = [PROTOCOL_VERSIONS[first], version ?? ""].map(parseProtocolVersion);
  return least !== undefined && given !== undefined && isUpTo(least, given);
}

/**
 * Checks an option.
 *
 * @throws {TypeError} when this package does not speak this `MAJOR.MINOR`.
 */
export function assertProtocol(minor: unknown): void {
  if (typeof minor === "string" && toProtocolMinor(minor) !== undefined) return;
  throw new TypeError(`Cannot speak protocol ${JSON.stringify(minor)}: expected one of ${listOfMinors()}`);
}

/** `"0.2", "0.3" or "0.4"` */
export function listOfMinors(): string {
  const quoted = PROTOCOL_MINORS.map((minor) => `"${minor}"`);
  return `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

/**
 * The highest `MAJOR.MINOR` of this package within a range that a Server accepts, such as `0.3.0` to `0.4.999`;
 * `undefined` when there is none, or when an end of the range is missing or cannot be read.
 */
export function highestMinorWithin(
  { min_supported = "", max_supported = "" }: {
    readonly min_supported?: string | undefined;
    readonly max_supported?: string | undefined;
  },
): ProtocolMinor | undefined {
  const [lowest, highest] = [parseProtocolVersion(min_supported), parseProtocolVersion(max_supported)];
  if (lowest === undefined || highest === undefined) return undefined;
  return PROTOCOL_MINORS.findLast((minor) => {
    const version = parseProtocolVersion(PROTOCOL_VERSIONS[minor]);
    return version !== undefined && isUpTo(lowest, version) && isUpTo(version, highest);
  });
}

/** Whether the `MAJOR.MINOR` of a version is that of another or a lower one. */
function isUpTo(version: ProtocolVersion, limit: ProtocolVersion): boolean {
  return version.major < limit.major || (version.major === limit.major && version.minor <= limit.minor);
}
