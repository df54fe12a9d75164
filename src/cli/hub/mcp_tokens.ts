/** Access of MCP clients by a file of tokens, which is read again when it changes. */
import { FileContentError, WatchedFiles } from "../../files/watched_files.ts";
import { type Access, type AccessRule, bearerRule } from "../../http/mcp/access.ts";
import type { Logger } from "../../log.ts";
import { parseTokenList } from "../../server/admission/token_list.ts";
import { type AcceptedToken, TokenTable } from "../../server/admission/tokens.ts";
import { CONSTANTS } from "../../server/options/constants.ts";
import { UsageError } from "../outcome.ts";

/** Admits clients with one of the tokens of `--mcp-token-file`. */
export class McpTokenFile implements AccessRule, AsyncDisposable {
  readonly #table: TokenTable;
  readonly #files: WatchedFiles;

  private constructor(table: TokenTable, files: WatchedFiles) {
    this.#table = table;
    this.#files = files;
  }

  /** @throws {UsageError} when the file cannot be read, or has a line that is not understood. */
  static async open(path: string, logger: Logger): Promise<McpTokenFile> {
    const table = new TokenTable();
    try {
      const files = await WatchedFiles.open({
        kind: "MCP token file",
        files: [path],
        maxBytes: CONSTANTS.maxTokenFileBytes.value,
        logger,
        use: ([text = ""]) => {
          table.replace(parseTokenList(text, "client"));
          return { tokens: table.size };
        },
      });
      return new McpTokenFile(table, files);
    } catch (error) {
      if (error instanceof FileContentError) throw new UsageError(error.message, { cause: error });
      throw error;
    }
  }

  /** The token of the file; or why it is not accepted. */
  find(token: string): AcceptedToken | "wrong" | "expired" {
    const found = this.#table.find(token);
    if (found === undefined) return "wrong";
    return (found.admission.expiresAtMs ?? Infinity) <= Date.now() ? "expired" : found;
  }

  readonly admit = bearerRule((token) => {
    const found = this.find(token);
    return typeof found === "string" ? found : accessOf(found);
  }).admit;

  /** Stops watching the file. May be called twice. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#files.close();
  }
}

function accessOf({ listed, admission }: AcceptedToken): Access {
  const { name = "", computers, rights = "call" } = listed;
  const { principal, grant, expiresAtMs: expiresAt, signal } = admission;
  const offices = grant?.offices ?? "all";
  return { id: `token:${principal}`, client: name, offices, computers, rights, expiresAt, signal };
}
