/** The inputs of a configuration, and their use by its servers. */
import type { MCPServerInput } from "../protocol/config.ts";
import { isRecord } from "../json/json.ts";
import { inputKinds } from "../protocol/schemas/config.ts";
import { readWith, warnOfInputKeys, wrongWord } from "./explain.ts";
import { type ConfigEntry, type ConfigForm, isOwnEntry } from "./form.ts";
import { type Findings, MAX_FINDINGS } from "./problem.ts";
import { findPlaceholders } from "./placeholders.ts";
import { didYouMean } from "../text/spelling.ts";

/** Reads the entry of an input; `undefined` when it has problems, which are added to the findings. */
export function readInput(
  { path, value }: ConfigEntry,
  { form, findings }: { readonly form: ConfigForm; readonly findings: Findings },
): MCPServerInput | undefined {
  if (!isRecord(value)) {
    findings.refuse(path, "must be an object");
    return undefined;
  }
  const { type } = value;
  if (!isKind(type)) {
    findings.refuse([...path, "type"], wrongWord(Object.keys(inputKinds), type));
    return undefined;
  }
  if (type === "command" && form !== "smcp") {
    const message =
      'must not be "command", because only an editor can run its commands; use "promptString", or write the ' +
      'servers with "server_parameters", where "command" inputs run a shell command';
    findings.refuse([...path, "type"], message);
    return undefined;
  }
  const input = readWith(inputKinds[type], value, { path, findings });
  if (input === undefined) return undefined;
  warnOfInputKeys(input, { path, findings });
  const isStray = input.type === "pickString" && typeof input.default === "string" &&
    !input.options.includes(input.default);
  if (isStray) findings.refuse([...path, "default"], 'must be one of the "options"');
  return withLabels(input, value["options"]);
}

/** Keeps the labels of options that are written as `{ label, value }`. */
function withLabels(input: MCPServerInput, written: unknown): MCPServerInput {
  if (input.type !== "pickString" || !Array.isArray(written) || !written.some(isRecord)) return input;
  const labels = input.options.map((value, index) => {
    const label = isRecord(written[index]) ? written[index]["label"] : undefined;
    return typeof label === "string" && label !== "" ? label : value;
  });
  return { ...input, option_labels: labels };
}

function isKind(type: unknown): type is MCPServerInput["type"] {
  return typeof type === "string" && Object.hasOwn(inputKinds, type);
}

/** Finds placeholders of undefined inputs, with which a server cannot start, and warns of inputs that no server uses. */
export function checkUse(
  { servers, inputs }: { readonly servers: readonly ConfigEntry[]; readonly inputs: readonly ConfigEntry[] },
  findings: Findings,
): void {
  const ids = inputs.map(({ value }) => isRecord(value) ? value["id"] : undefined)
    .filter((id) => typeof id === "string");
  const known = new Set(ids);
  const used = new Set<string>();
  for (const { path, value } of servers) {
    for (const { placeholder, path: within } of placeholdersOf(value)) {
      if (placeholder.kind !== "input") continue;
      used.add(placeholder.id);
      if (known.has(placeholder.id) || findings.failures.length === MAX_FINDINGS) continue;
      const hint = didYouMean(placeholder.id, ids) || "; declare it there, or write ${env:NAME}";
      const message = `uses input "${placeholder.id}", which is not in "inputs"${hint}`;
      if (isRecord(value) && value["disabled"] === true) findings.warn([...path, ...within], message);
      else findings.fail([...path, ...within], message);
    }
  }
  inputs.forEach(({ path, value }) => {
    const id = isRecord(value) ? value["id"] : undefined;
    if (typeof id === "string" && !used.has(id)) {
      findings.warn(path, `input "${id}" is not used by any server`);
    }
  });
}

/** Placeholders of our own form are filled in within some members only; in a flat entry anywhere. */
function placeholdersOf(entry: unknown): ReturnType<typeof findPlaceholders> {
  if (!isRecord(entry) || !isOwnEntry(entry)) return findPlaceholders(entry);
  const { server_parameters, oauth } = entry;
  return findPlaceholders({ server_parameters, oauth });
}
