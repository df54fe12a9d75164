/** Pages that an MCP server wants its user to open before it runs a tool: the error -32042 of MCP 2025-11-25. */
import { isRecord } from "../../json.ts";
import type { Question } from "../../mcp/call_options.ts";
import { ServerAnswerError } from "../../mcp/errors.ts";

/** The code of the error. */
const URL_ELICITATION_REQUIRED = -32042;
/** The most pages of one error. */
const MAX_PAGES = 8;

/** The pages that an error asks for, as questions; empty for any other error. */
export function requiredPages(error: unknown): Question[] {
  if (!(error instanceof ServerAnswerError) || error.rpcCode !== URL_ELICITATION_REQUIRED) return [];
  const { elicitations } = isRecord(error.rpcData) ? error.rpcData : {};
  if (!Array.isArray(elicitations)) return [];
  return elicitations.slice(0, MAX_PAGES).flatMap((entry): Question[] => {
    const { message, url, elicitationId: id } = isRecord(entry) ? entry : {};
    if (typeof message !== "string" || typeof url !== "string") return [];
    return [{ mode: "url", message, url, elicitationId: typeof id === "string" ? id : undefined }];
  });
}
