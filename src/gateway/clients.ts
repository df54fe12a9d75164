/** What a client of the gateway calls itself. */
import type { Server } from "@modelcontextprotocol/server";

/** Its own name, such as `Claude`; `undefined` when it has not said one. */
export function nameOfClient(server: Server): string | undefined {
  return server.getClientVersion()?.name || undefined;
}

/** Whether it is a client of OpenAI, which uses `search` and `fetch`: ChatGPT, and the API with its deep research. */
export function isOfOpenAi(name: string | undefined): boolean {
  return name !== undefined && /^(?:openai-mcp|chatgpt)\b/i.test(name);
}

/** Its own name and version, for the activity log. */
export function describeClient(server: Server): string {
  const { name = "unknown", version = "" } = server.getClientVersion() ?? {};
  return `${name} ${version}`.trim();
}
