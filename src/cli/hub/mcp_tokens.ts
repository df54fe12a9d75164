/** Access of MCP clients by a file of tokens, which is read again when it changes. */
import { readRegularFile } from "../../files/files.ts";
import { FileContentError, WatchedFiles } from "../../files/watched_files.ts";
import { type Access, type AccessRule, bearerRule } from "../../http/mcp/access.ts";
import type { Logger } from "../../log.ts";
import { type ListedToken, parseTokenList, type TokenKind } from "../../server/admission/token_list.ts";
import { acceptedDigestOf, type AcceptedToken, TokenTable } from "../../server/admission/tokens.ts";
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

interface TokenSources {
  readonly token?: readonly string[] | undefined;
  readonly tokenFile?: string | undefined;
  readonly mcpTokenFile?: string | undefined;
  readonly operatorTokenFile?: string | undefined;
}

/**
 * Refuses a token that two options give: each opens one thing, and such a token would open both.
 *
 * @throws {UsageError} that names the options, and quotes no token.
 */
export async function requireSeparateTokens(sources: TokenSources): Promise<void> {
  const { token: tokens = [], tokenFile, mcpTokenFile, operatorTokenFile } = sources;
  const seen = new Map(tokens.map((token) => [keyOf(token), "--token"]));
  const files = [
    ["--token-file", tokenFile, "member"],
    ["--mcp-token-file", mcpTokenFile, "client"],
    ["--operator-token-file", operatorTokenFile, "client"],
  ] as const;
  const paths = new Map<string, string>();
  for (const [option, path, kind] of files) {
    if (path === undefined) continue;
    const real = await Deno.realPath(path).catch(() => path);
    const twin = paths.get(real);
    if (twin !== undefined) {
      throw new UsageError(`Cannot use ${option} "${path}": it is the file of ${twin}; ${REMEDY}`);
    }
    paths.set(real, option);
    const reading = await readRegularFile(path, { maxBytes: CONSTANTS.maxTokenFileBytes.value });
    // What is wrong with a file is said when it is opened.
    if ("state" in reading) continue;
    for (const { token, place } of listedIn(reading.text, kind)) {
      const other = seen.get(keyOf(token));
      if (other !== undefined && other !== option) {
        throw new UsageError(`Cannot use ${option} "${path}": ${place} has a token of ${other}; ${REMEDY}`);
      }
      seen.set(keyOf(token), option);
    }
  }
}

const REMEDY = "a token opens one of them alone; give each its own tokens";

function listedIn(text: string, kind: TokenKind): readonly ListedToken[] {
  try {
    return parseTokenList(text, kind);
  } catch (error) {
    if (error instanceof FileContentError) return [];
    throw error;
  }
}

function keyOf(token: string): string {
  return acceptedDigestOf(token).toHex();
}

function accessOf({ listed, admission }: AcceptedToken): Access {
  const { name = "", computers, rights = "call" } = listed;
  const { principal, grant, expiresAtMs: expiresAt, signal } = admission;
  const offices = grant?.offices ?? "all";
  return { id: `token:${principal}`, client: name, offices, computers, rights, expiresAt, signal };
}
