/** Members of flat entries that have no counterpart here: refused, ignored with a warning, or without one. */
import { membersOf } from "./dialects.ts";
import { FLAT_KEYS } from "./flat.ts";
import { type ConfigForm, isRemark } from "../form.ts";
import { strangerMessage } from "../explain.ts";
import type { ReadingPlace } from "../problem.ts";

/** To go on without these would be unsafe. */
const REFUSED: ReadonlyMap<
  string,
  { readonly state: string; readonly isMeant: (value: unknown) => boolean }
> = new Map(Object.entries({
  sandboxEnabled: {
    state: "cannot be honoured: servers run without a sandbox; leave it out, or let the command start one",
    isMeant: (value: unknown) => value === true,
  },
}));

const NO_OAUTH = 'has no effect: nobody can sign in here; put a token into "headers"';
const NO_TIMEOUT = "has no effect: the Agent says how long a call may take";
const NO_START_TIMEOUT = "has no effect: a server may take as long as it needs to start";
const NO_WATCH = "has no effect: the server is not started again when files change";

/** The server works without these, if not as meant. */
const IGNORED: ReadonlyMap<string, string> = new Map(Object.entries({
  auth: NO_OAUTH,
  oauth: NO_OAUTH,
  oauth_scopes: NO_OAUTH,
  authProviderType: NO_OAUTH,
  headersHelper: 'has no effect; put ${input:id} into "headers", with an input of type "command"',
  timeout: NO_TIMEOUT,
  networkTimeout: NO_TIMEOUT,
  connectionTimeout: NO_TIMEOUT,
  tool_timeout_sec: NO_TIMEOUT,
  startup_timeout_sec: NO_START_TIMEOUT,
  startup_timeout_ms: NO_START_TIMEOUT,
  connect_timeout: NO_START_TIMEOUT,
  watchPaths: NO_WATCH,
  settings: "has no effect: it is for an extension of Zed",
}));

/** What concerns only the looks of a server in some program, or its development there. */
const DECORATION: ReadonlySet<string> = new Set([
  "name",
  "id",
  "title",
  "label",
  "icon",
  "iconUrl",
  "iconPath",
  "gallery",
  "galleryUrl",
  "version",
  "provider",
  "metadata",
  "tags",
  "note",
  "source",
  "baseUrlType",
  "bundled",
  "configSample",
  "dxtPath",
  "installSource",
  "isTrusted",
  "logoUrl",
  "longRunning",
  "providerUrl",
  "reference",
  "registryUrl",
  "searchKey",
  "trustedAt",
  "extensionName",
  "fromGalleryId",
  "dev",
  // Without `sandboxEnabled` these rules are asleep.
  "sandbox",
]);

/** Words that are written otherwise, and too far from what they mean to be told by their letters. */
const SYNONYMS: ReadonlyMap<string, string> = new Map(Object.entries({
  arguments: "args",
  parameters: "args",
  params: "args",
  cmd: "command",
  executable: "command",
  environment: "env",
  environmentVariables: "env",
  variables: "env",
  endpoint: "url",
  uri: "url",
  directory: "cwd",
  workingDirectory: "cwd",
  httpHeaders: "headers",
}));

/** Refuses or warns of what an entry says that cannot be done. */
export function checkForeignKeys(
  entry: Readonly<Record<string, unknown>>,
  { path, findings, form }: ReadingPlace & { readonly form: ConfigForm },
): void {
  const known = [...FLAT_KEYS, ...membersOf(form)];
  for (const [key, value] of Object.entries(entry)) {
    const refused = REFUSED.get(key);
    if (refused !== undefined) {
      if (refused.isMeant(value)) findings.refuse([...path, key], refused.state);
      continue;
    }
    if (known.includes(key) || DECORATION.has(key) || isRemark(key)) continue;
    // Switched off
    if (IGNORED.has(key) && (value === false || value === null)) continue;
    findings.warn([...path, key], IGNORED.get(key) ?? messageFor(key, known));
  }
}

function messageFor(key: string, known: readonly string[]): string {
  const meant = SYNONYMS.get(key);
  if (meant !== undefined) return `has no meaning here; did you mean "${meant}"?`;
  return strangerMessage(key, [...known, ...REFUSED.keys(), ...IGNORED.keys()]);
}
