/** Which MCP clients a hub admits. */
import type { AccessRule } from "../../http/mcp/access.ts";
import { firstRule } from "../../http/mcp/access.ts";
import type { Logger } from "../../log.ts";
import { UsageError } from "../outcome.ts";
import { McpTokenFile } from "./mcp_tokens.ts";
import type { HubOptions } from "./options.ts";

export interface OpenedAccess extends AsyncDisposable {
  readonly rule: AccessRule;
}

/** @throws {UsageError} when no client could be admitted, or a file cannot be used. */
export async function openAccess(options: HubOptions, logger: Logger): Promise<OpenedAccess> {
  await using opening = new AsyncDisposableStack();
  const rules: AccessRule[] = [];
  if (options.mcpTokenFile !== undefined) {
    rules.push(opening.use(await McpTokenFile.open(options.mcpTokenFile, logger)));
  }
  const [first, ...others] = rules;
  if (first === undefined) {
    throw new UsageError("Cannot start the hub: no MCP client could use it; give --mcp-token-file FILE");
  }
  const opened = opening.move();
  return { rule: firstRule([first, ...others]), [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
