/** Members of a configuration that have no meaning: a misspelt `forbidden_tools` forbids nothing. */
import type { MCPServerConfig, MCPServerInput } from "../protocol/config.ts";
import { INPUT_KEYS, PARAMETER_KEYS, SERVER_KEYS, TOOL_META_KEYS } from "../protocol/schemas/config.ts";
import { isRemark } from "./form.ts";
import type { ReadingPlace } from "./problem.ts";
import { didYouMean } from "../spelling.ts";

/** Of a longer list nobody would find what was meant. */
const MAX_LISTED_KEYS = 10;

/** Warns of each member of a server in the specification's form that nothing reads. */
export function warnOfServerKeys(config: MCPServerConfig, { path, findings }: ReadingPlace): void {
  const { type, server_parameters } = config;
  warnOfStrangers(config, SERVER_KEYS, { path, findings });
  const parameters = { path: [...path, "server_parameters"], findings };
  warnOfStrangers(server_parameters, PARAMETER_KEYS[type], parameters);
  warnOfToolKeys(config, { path, findings });
}

/** The same for what a server says of its tools, in any form. */
export function warnOfToolKeys(
  config: Pick<MCPServerConfig, "tool_meta" | "default_tool_meta">,
  { path, findings }: ReadingPlace,
): void {
  for (const [tool, meta] of Object.entries(config.tool_meta)) {
    warnOfStrangers(meta, TOOL_META_KEYS, { path: [...path, "tool_meta", tool], findings });
  }
  const defaults = { path: [...path, "default_tool_meta"], findings };
  warnOfStrangers(config.default_tool_meta ?? {}, TOOL_META_KEYS, defaults);
}

/** The same for an input. */
export function warnOfInputKeys(input: MCPServerInput, place: ReadingPlace): void {
  warnOfStrangers(input, INPUT_KEYS[input.type], place);
}

function warnOfStrangers(value: object, known: readonly string[], { path, findings }: ReadingPlace): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key) && !isRemark(key)) findings.warn([...path, key], strangerMessage(key, known));
  }
}

/** What to say of a member that nothing reads; a long list of what is known would help nobody. */
export function strangerMessage(key: string, known: readonly string[]): string {
  const list = known.length > MAX_LISTED_KEYS ? "" : `; known are ${known.join(", ")}`;
  return `has no meaning here${didYouMean(key, known) || list}`;
}
