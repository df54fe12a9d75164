/** How many calls each client has open, so that one client leaves the others some of what the Server allows an Agent. */
import { errorResult, type McpToolResult } from "../agent/toolkit/mcp.ts";
import type { ClientKey } from "./questions.ts";

/** The most calls of one client at the same time: a quarter of what a Server allows an Agent by default. */
export const MAX_OPEN_CALLS = 256;

export class CallShares {
  readonly #open = new Map<ClientKey, number>();

  /** Makes a call, unless its client has too many open. */
  async run<Result>(client: ClientKey, call: () => Promise<Result>): Promise<Result | McpToolResult> {
    const open = this.#open.get(client) ?? 0;
    if (open >= MAX_OPEN_CALLS) {
      return errorResult(
        `Cannot call the tool: ${open} calls of this client are open. The tool did not run. Wait until others have ended`,
      );
    }
    this.#open.set(client, open + 1);
    try {
      return await call();
    } finally {
      const left = (this.#open.get(client) ?? 1) - 1;
      if (left === 0) this.#open.delete(client);
      else this.#open.set(client, left);
    }
  }
}
