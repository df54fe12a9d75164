/** Finds tools by what they do: BM25 over names, titles, descriptions, schemas, MCP servers and Computers. */
import MiniSearch from "minisearch";
import type { Json, McpTool } from "../../agent/toolkit/mcp.ts";
import type { OfficeTool } from "../../agent/toolkit/toolset.ts";
import { isRecord } from "../../json.ts";
import { A2C_MCP_SERVER } from "../../protocol/tools.ts";
import { termOf, wordsOf } from "./terms.ts";

/** How much a term counts in each field. */
const WEIGHTS = { name: 2, title: 1.5, purpose: 2, hints: 0.5, schema: 0.5, server: 1, computer: 1 } as const;
/** How many characters of a description tell the purpose; what follows are hints for the use. */
const PURPOSE_CHARACTERS = 200;
/** The most characters of a description, and the most texts of a schema, that are indexed. */
const MAX_CHARACTERS = 4_000;
const MAX_TEXTS = 200;
/** How deep a schema is indexed. */
const MAX_DEPTH = 3;
/** A term from so many characters on also counts as the beginning of a longer one. */
const MIN_PREFIX = 4;
/** The tools that are indexed before the event loop runs again. */
const CHUNK = 100;

/** What is indexed of a tool. */
type Entry = Readonly<Record<keyof typeof WEIGHTS, string>> & {
  readonly id: string;
  readonly tool: OfficeTool;
};

/** An index that changes by Computer: the others keep what was indexed. */
export class ToolIndex {
  readonly #groups = new Map<
    string,
    { readonly source: readonly OfficeTool[]; readonly entries: readonly Entry[] }
  >();
  readonly #search = new MiniSearch<Entry>({
    fields: Object.keys(WEIGHTS),
    storeFields: ["tool"],
    tokenize: wordsOf,
    processTerm: (word) => termOf(word) ?? null,
  });
  /** The update that runs now; the next one waits for it. */
  #updating: Promise<void> = Promise.resolve();

  /** Makes the index one of these tools by Computer. What has not changed since the last time costs nothing. */
  update(tools: ReadonlyMap<string, readonly OfficeTool[]>): Promise<void> {
    return this.#updating = this.#updating.then(() => this.#update(tools));
  }

  /** The best tools for a query, the best first; equally good ones by name. */
  search(
    query: string,
    { limit, isWanted = () => true }: {
      readonly limit: number;
      readonly isWanted?: (tool: OfficeTool) => boolean;
    },
  ): OfficeTool[] {
    const results = this.#search.search(query.slice(0, MAX_CHARACTERS), {
      boost: WEIGHTS,
      combineWith: "OR",
      prefix: (term) => term.length >= MIN_PREFIX,
      filter: ({ tool }) => isWanted(tool),
    });
    const byScore = results.sort((one, other) =>
      other.score - one.score || (String(one.id) < String(other.id) ? -1 : 1)
    );
    return byScore.slice(0, limit).map(({ tool }) => tool);
  }

  async #update(tools: ReadonlyMap<string, readonly OfficeTool[]>): Promise<void> {
    for (const [computer, { source, entries }] of this.#groups) {
      if (tools.get(computer) === source) continue;
      for (const { id } of entries) this.#search.discard(id);
      this.#groups.delete(computer);
    }
    for (const [computer, source] of tools) {
      if (this.#groups.has(computer)) continue;
      const entries = source.map(toEntry);
      this.#groups.set(computer, { source, entries });
      await this.#search.addAllAsync(entries, { chunkSize: CHUNK });
    }
  }
}

function toEntry(tool: OfficeTool): Entry {
  const { name, title = "", description = "", _meta } = tool.definition;
  const server = _meta?.[A2C_MCP_SERVER];
  return {
    id: name,
    tool,
    name: tool.tool,
    title,
    purpose: description.slice(0, PURPOSE_CHARACTERS),
    hints: description.slice(PURPOSE_CHARACTERS, MAX_CHARACTERS),
    schema: schemaTexts(tool.definition).join(" "),
    server: typeof server === "string" ? server : "",
    computer: tool.computer,
  };
}

/** The names and descriptions of the properties of a tool's arguments. */
function schemaTexts({ inputSchema }: McpTool): string[] {
  const texts: string[] = [];
  const visit = ({ properties, items }: Json, depth: number) => {
    if (isRecord(properties)) {
      for (const [name, property] of Object.entries(properties)) {
        if (texts.length >= MAX_TEXTS) return;
        texts.push(name);
        if (!isRecord(property)) continue;
        if (typeof property["description"] === "string") {
          texts.push(property["description"].slice(0, MAX_CHARACTERS));
        }
        if (depth < MAX_DEPTH) visit(property, depth + 1);
      }
    }
    if (isRecord(items) && depth < MAX_DEPTH) visit(items, depth + 1);
  };
  visit(inputSchema, 1);
  return texts;
}
