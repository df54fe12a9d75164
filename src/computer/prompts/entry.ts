/** Translates entries of `prompts/list` for this wire. Pure. */
import { isRecord, textsOf } from "../../json.ts";
import type { PromptArgument, PromptInfo } from "../../protocol/prompts.ts";
import { A2C_MCP_SERVER } from "../../protocol/tools.ts";
import { isIcon } from "../resources/read.ts";

/**
 * Translates an entry of `prompts/list`. Members that are null or of a wrong type are removed, because strict peers
 * refuse them, and so are arguments without a name. Returns `undefined` for an entry without a name.
 *
 * @param server The name of the MCP server.
 */
export function toPromptInfo(entry: unknown, server: string): PromptInfo | undefined {
  if (!isRecord(entry) || typeof entry["name"] !== "string" || entry["name"] === "") return undefined;
  const { name, title, description, arguments: args, icons, _meta, ...rest } = entry;
  return {
    ...rest,
    name,
    ...textsOf({ title, description }),
    ...(Array.isArray(args)
      ? { arguments: args.map(toArgument).filter((argument) => argument !== undefined) }
      : {}),
    ...(Array.isArray(icons) ? { icons: icons.filter(isIcon) } : {}),
    _meta: { ...(isRecord(_meta) ? _meta : {}), [A2C_MCP_SERVER]: server },
  };
}

function toArgument(argument: unknown): PromptArgument | undefined {
  if (!isRecord(argument) || typeof argument["name"] !== "string") return undefined;
  const { name, title, description, required, ...rest } = argument;
  return {
    ...rest,
    name,
    ...textsOf({ title, description }),
    ...(typeof required === "boolean" ? { required } : {}),
  };
}
