/** Access of MCP clients by a file of tokens, which is read again when it changes. */
import { FileContentError, WatchedFiles } from "../../files/watched_files.ts";
import { type Access, AccessRefusal, type AccessRule } from "../../http/mcp/access.ts";
import { readBearer } from "../../http/tokens.ts";
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

  /** Who has a token; `undefined` for a wrong one, and for one that has expired. */
  find(token: string): { readonly name: string; readonly offices: Access["offices"] } | undefined {
    const found = this.#table.find(token);
    if (found === undefined || isOver(found)) return undefined;
    return { name: found.admission.principal, offices: found.admission.grant?.offices ?? "all" };
  }

  admit({ headers }: Request): Promise<Access | Response> {
    const shown = readBearer(headers.get("authorization"));
    if (shown === undefined) return Promise.resolve(refusal("it has no bearer token", "no token"));
    const found = this.#table.find(shown);
    if (found === undefined) return Promise.resolve(refusal("its bearer token is wrong", "wrong token"));
    if (isOver(found)) return Promise.resolve(refusal("its bearer token has expired", "expired token"));
    return Promise.resolve(accessOf(found));
  }

  /** Stops watching the file. May be called twice. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#files.close();
  }
}

function isOver({ admission: { expiresAtMs = Infinity } }: AcceptedToken): boolean {
  return expiresAtMs <= Date.now();
}

function accessOf({ listed, admission }: AcceptedToken): Access {
  const { name = "", computers, rights = "call" } = listed;
  const { principal, grant, expiresAtMs: expiresAt, signal } = admission;
  const offices = grant?.offices ?? "all";
  return { id: `token:${principal}`, client: name, offices, computers, rights, expiresAt, signal };
}

function refusal(problem: string, reason: string): AccessRefusal {
  const parameter = reason === "no token" ? "" : ', error="invalid_token"';
  return new AccessRefusal(401, {
    message: `Cannot serve this request: ${problem}`,
    challenge: `Bearer realm="a2c-smcp"${parameter}`,
    log: { reason },
  });
}
