/** The members of a configuration that concern the whole Computer, beside its servers and inputs. */
import { listOfMinors, type ProtocolMinor, toProtocolMinor } from "../protocol/version.ts";
import { type ConfigOrigin, fileOf } from "./foreign/variables.ts";
import type { ConfigEntry } from "./form.ts";
import type { Findings, ReadingPlace } from "./problem.ts";

/** What concerns the whole Computer. */
export interface ConfigSettings {
  /** The `MAJOR.MINOR` of the protocol that the Computer is to speak. */
  readonly protocolVersion?: ProtocolMinor | undefined;
  /** The folders of skills, first in order of precedence. */
  readonly skills?: readonly string[] | undefined;
  /** The folder for files that the Agent uploads. */
  readonly uploads?: string | undefined;
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
