/** Keys of flat entries that we do not support: ignored with a warning, or silently ignored. */
import { membersOf } from "./dialects.ts";
import { FLAT_KEYS } from "./flat.ts";
import { type ConfigForm, isRemark } from "../form.ts";
import { type Synonyms, unknownKey } from "../explain.ts";
import type { ReadingPlace } from "../problem.ts";

const NO_PROVIDER = 'has no effect; write "oauth", or put a token into "headers"';
const NO_TIMEOUT = "has no effect: the Agent sets the timeout of each call";
const NO_START_TIMEOUT = "has no effect: there is no limit for the start of a server";
const NO_WATCH = "has no effect: servers are not restarted when files change";

/** Keys that are ignored with a warning: the server works, but not as configured. */
const IGNORED: ReadonlyMap<string, string> = new Map(Object.entries({
  authProviderType: NO_PROVIDER,
  headersHelper: 'has no effect; put ${input:id} into "headers", with an input of type "command"',
  timeout: NO_TIMEOUT,
  networkTimeout: NO_TIMEOUT,
  connectionTimeout: NO_TIMEOUT,
  tool_timeout_sec: NO_TIMEOUT,
  startup_timeout_sec: NO_START_TIMEOUT,
  startup_timeout_ms: NO_START_TIMEOUT,
  connect_timeout: NO_START_TIMEOUT,
  watchPaths: NO_WATCH,
  settings: "has no effect: it configures a Zed extension",
}));

/** Keys that are silently ignored: they concern the presentation of a server in a program, or its development. */
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
]);

/** Common names of other programs for our keys, whose spelling is not similar. */
const SYNONYMS: Synonyms = new Map(Object.entries({
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

/** Warns of the unsupported keys of an entry. */
export function checkForeignKeys(
  entry: Readonly<Record<string, unknown>>,
  { path, findings, form }: ReadingPlace & { readonly form: ConfigForm },
): void {
  const known = [...FLAT_KEYS, ...membersOf(form)];
  for (const [key, value] of Object.entries(entry)) {
    if (known.includes(key) || DECORATION.has(key) || isRemark(key)) continue;
    // An unsupported feature that is switched off needs no warning.
    if (IGNORED.has(key) && (value === false || value === null)) continue;
    const similar = [...known, ...IGNORED.keys()];
    findings.warn([...path, key], IGNORED.get(key) ?? unknownKey(key, similar, SYNONYMS));
  }
}
