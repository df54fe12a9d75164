/** Changes the settings of one tool in the text of a configuration: whether it is offered, and whether it runs unasked. */
import { isRecord } from "../json/json.ts";
import { serverEntry, setMemberText } from "./edit.ts";
import { ConfigError } from "./problem.ts";

/** A tool by the name of its server in the configuration, and its own name. */
export interface EditedTool {
  readonly server: string;
  readonly tool: string;
}

/** The members that list hidden tools; other programs have their own names for it. */
const HIDING = ["forbidden_tools", "disabledTools", "excludeTools"];

/** Adds the tool to `forbidden_tools`. */
export function hideToolText(text: string, { server, tool }: EditedTool): string {
  const { path, value } = serverEntry(text, server, `hide tool "${tool}"`);
  const hidden = namesIn(value, "forbidden_tools");
  return hidden.includes(tool) ? text : setMemberText(text, [...path, "forbidden_tools"], [...hidden, tool]);
}

/**
 * Removes the tool from the lists of hidden tools.
 *
 * @param spellings The names by which they may mean it.
 */
export function showToolText(
  text: string,
  { server, tool, spellings }: EditedTool & { readonly spellings: readonly string[] },
): string {
  const { path, value } = serverEntry(text, server, `show tool "${tool}"`);
  return HIDING.reduce((edited, member) => {
    const hidden = namesIn(value, member);
    const left = hidden.filter((name) => !spellings.includes(name));
    return left.length === hidden.length ? edited : setMemberText(edited, [...path, member], left);
  }, text);
}

/** Sets `auto_apply` of the tool in `tool_meta`. */
export function setAutoApplyText(
  text: string,
  { server, tool, isApplied }: EditedTool & { readonly isApplied: boolean },
): string {
  const { path, value } = serverEntry(text, server, `change tool "${tool}"`);
  const metas = isRecord(value) ? value["tool_meta"] : undefined;
  const meta = isRecord(metas) ? metas[tool] : undefined;
  const at = [...path, "tool_meta"];
  // A member that is null counts as missing.
  if (metas === null) return setMemberText(text, at, { [tool]: { auto_apply: isApplied } });
  if (meta === null) return setMemberText(text, [...at, tool], { auto_apply: isApplied });
  return setMemberText(text, [...at, tool, "auto_apply"], isApplied);
}

function namesIn(entry: unknown, member: string): string[] {
  const names = isRecord(entry) ? entry[member] ?? [] : [];
  if (Array.isArray(names) && names.every((name) => typeof name === "string")) return names;
  throw new ConfigError(`Cannot change "${member}": it is no list of names`);
}
