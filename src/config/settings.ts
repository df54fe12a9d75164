/** The members of a configuration that concern the whole Computer, beside its servers and inputs. */
import { isRecord } from "../json/json.ts";
import { listOfMinors, type ProtocolMinor, toProtocolMinor } from "../protocol/version.ts";
import { didYouMean } from "../text/spelling.ts";
import { type ConfigOrigin, fileOf } from "./foreign/variables.ts";
import type { ConfigEntry } from "./form.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import type { Findings, ReadingPlace } from "./problem.ts";

export interface ConfigSettings {
  /** The `MAJOR.MINOR` of the protocol that the Computer is to speak. */
  readonly protocolVersion?: ProtocolMinor | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly uploads?: string | undefined;
  /** Limits that differ from the defaults, by their names. */
  readonly limits?: Readonly<Record<string, number>> | undefined;
}

/** Reads these members; `null` counts as absent. */
export function readSettings(
  entries: readonly ConfigEntry[],
  { origin, findings }: { readonly origin: ConfigOrigin | undefined; readonly findings: Findings },
): ConfigSettings {
  const settings: { -readonly [Key in keyof ConfigSettings]: ConfigSettings[Key] } = {};
  for (const { key, path, value } of entries) {
    if (value === null) continue;
    if (key === "protocol_version") settings.protocolVersion = readProtocol(value, { path, findings });
    if (key === "skills") settings.skills = readFolders(value, { path, findings, origin });
    if (key === "limits") settings.limits = readLimits(value, { path, findings });
    if (key === "uploads") settings.uploads = readFolder(value, { path, findings, origin });
  }
  return settings;
}

function readProtocol(value: unknown, { path, findings }: ReadingPlace): ProtocolMinor | undefined {
  const minor = typeof value === "string" ? toProtocolMinor(value) : undefined;
  if (minor !== undefined) return minor;
  const quoted = typeof value === "number" ? toProtocolMinor(String(value)) : undefined;
  const fix = quoted === undefined ? `write ${listOfMinors()}` : `it is text, write "${quoted}"`;
  findings.refuse(path, `unknown protocol version; ${fix}`);
  return undefined;
}

function readLimits(value: unknown, { path, findings }: ReadingPlace): Readonly<Record<string, number>> {
  if (!isRecord(value)) {
    findings.refuse(path, 'must be numbers by name; write { "maxMessageBytes": 100000000 }');
  }
  const limits: Record<string, number> = {};
  for (const [name, limit] of Object.entries(isRecord(value) ? value : {})) {
    if (limit === null) continue;
    const isNumber = typeof limit === "number" && Number.isSafeInteger(limit) && limit > 0;
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) {
      findings.refuse([...path, name], `unknown limit${didYouMean(name, Object.keys(DEFAULT_LIMITS))}`);
    } else if (isNumber) limits[name] = limit;
    else findings.refuse([...path, name], "must be a whole number above 0");
  }
  return limits;
}

function readFolders(
  value: unknown,
  { path, ...place }: ReadingPlace & { readonly origin: ConfigOrigin | undefined },
): readonly string[] | undefined {
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => readFolder(each, { ...place, path: [...path, index] }) ?? []);
  }
  place.findings.refuse(path, 'must be a list of folders; write ["./skills"]');
  return undefined;
}

/** A relative folder is below that of the file. */
function readFolder(
  value: unknown,
  { path, findings, origin }: ReadingPlace & { readonly origin: ConfigOrigin | undefined },
): string | undefined {
  if (typeof value === "string" && value !== "" && !value.includes("${")) return fileOf(value, origin);
  findings.refuse(path, "must be the path of a folder; variables are not filled in here");
  return undefined;
}
