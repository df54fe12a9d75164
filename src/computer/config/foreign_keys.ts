/** Members of flat entries that have no counterpart here: refused, told of, or left without a word. */
import { FLAT_KEYS } from "./flat.ts";
import { isRemark } from "./form.ts";
import { strangerMessage } from "./keys.ts";
import type { ReadingPlace } from "./problem.ts";

const NO_ENV_FILE = 'is not read; put its variables into "env", as values or as ${env:NAME}';
const NO_SANDBOX =
  "cannot be honoured: servers run without a sandbox; leave it out, or let the command start one";
const NO_ALLOW_LIST =
  'cannot be honoured: tools can only be left out; leave out this list, and name the others in "forbidden_tools"';

/** To go on without these would be unsafe, or of no use. */
const REFUSED: ReadonlyMap<
  string,
  { readonly state: string; readonly isMeant: (value: unknown) => boolean }
> = new Map(Object.entries({
  envFile: { state: NO_ENV_FILE, isMeant: isGiven },
  env_file: { state: NO_ENV_FILE, isMeant: isGiven },
  sandboxEnabled: { state: NO_SANDBOX, isMeant: (value) => value === true },
  includeTools: { state: NO_ALLOW_LIST, isMeant: isNarrowing },
  enabledTools: { state: NO_ALLOW_LIST, isMeant: isNarrowing },
  tools: { state: NO_ALLOW_LIST, isMeant: isNarrowing },
}));

const NO_OAUTH = 'has no effect: nobody can sign in here; put a token into "headers"';
const NO_TIMEOUT = "has no effect: the Agent says how long a call may take";
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
  watchPaths: NO_WATCH,
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
  "extensionName",
  "fromGalleryId",
  "dev",
  // Without `sandboxEnabled` these rules are asleep.
  "sandbox",
]);

const KNOWN_KEYS = [...FLAT_KEYS, ...REFUSED.keys(), ...IGNORED.keys()];

/** Refuses or warns of what an entry says that cannot be done. */
export function checkForeignKeys(
  entry: Readonly<Record<string, unknown>>,
  { path, findings }: ReadingPlace,
): void {
  for (const [key, value] of Object.entries(entry)) {
    const refused = REFUSED.get(key);
    if (refused !== undefined) {
      if (refused.isMeant(value)) findings.refuse([...path, key], refused.state);
      continue;
    }
    if (FLAT_KEYS.includes(key) || DECORATION.has(key) || isRemark(key)) continue;
    findings.warn([...path, key], IGNORED.get(key) ?? strangerMessage(key, KNOWN_KEYS));
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** Whether a list leaves anything out. */
function isNarrowing(value: unknown): boolean {
  return Array.isArray(value) && !value.includes("*");
}
