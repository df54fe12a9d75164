/** Finds tools by what they do: BM25 over names, titles, descriptions, schemas, MCP servers and Computers. */
import type { Json, McpTool } from "../../local_tools/mcp.ts";
import { mcpServerOf } from "../../agent/toolkit/tool_definition.ts";
import type { OfficeTool } from "../../agent/toolkit/toolset.ts";
import { isRecord } from "../../json/json.ts";
import { WordIndex } from "./word_index.ts";

/** How much a term counts in each field. */
const WEIGHTS = { name: 2, title: 1.5, purpose: 2, hints: 0.5, schema: 0.5, server: 1, computer: 1 } as const;
const FIELDS = Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[];
/** How many characters of a description tell the purpose; what follows are hints for the use. */
const PURPOSE_CHARACTERS = 200;
/** The most characters of a description, and the most texts of a schema, that are indexed. */
const MAX_CHARACTERS = 4_000;
const MAX_TEXTS = 200;
const MAX_DEPTH = 3;
/** Words that each task may have, and that tell no tool. */
const OF_TASKS = /\b(?:use[ds]?|using|want|need|like|tools?)\b/gi;

/** What is indexed of a tool, by the name that clients call it by. */
type Entry = Readonly<Record<keyof typeof WEIGHTS, string>> & { readonly id: string };

interface Indexed {
  readonly tool: OfficeTool;
  readonly entry: Entry;
}

/** An index that changes by tool: what has not changed keeps what was indexed. */
export class ToolIndex {
  /** The lists that were indexed, by Computer. */
  readonly #sources = new Map<string, readonly OfficeTool[]>();
  readonly #indexed = new Map<string, Indexed>();
  readonly #search = new WordIndex(WEIGHTS);
  /** The update that runs now; the next one waits for it. */
  #updating: Promise<void> = Promise.resolve();

  get tools(): OfficeTool[] {
    return [...this.#indexed.values()].map(({ tool }) => tool);
  }

  /** Makes the index one of these tools by Computer. What has not changed since the last time costs little. */
  update(tools: ReadonlyMap<string, readonly OfficeTool[]>): Promise<void> {
    return this.#updating = this.#updating.then(() => this.#update(tools));
  }

  /** The tools that fit a query, the best first; equally good ones by name. */
  search(
    query: string,
    { isWanted = () => true }: { readonly isWanted?: (tool: OfficeTool) => boolean } = {},
  ): OfficeTool[] {
    return this.#search.search(query.replace(OF_TASKS, " ")).flatMap((id) => {
      const tool = this.#indexed.get(id)?.tool;
      return tool !== undefined && isWanted(tool) ? [tool] : [];
    });
  }

  async #update(tools: ReadonlyMap<string, readonly OfficeTool[]>): Promise<void> {
    const added: Entry[] = [];
    for (const computer of new Set([...this.#sources.keys(), ...tools.keys()])) {
      const source = tools.get(computer) ?? [];
      if (this.#sources.get(computer) !== source) added.push(...this.#replace(computer, source));
    }
    await this.#search.add(added);
  }

  #replace(computer: string, source: readonly OfficeTool[]): Entry[] {
    const names = new Set(source.map(({ definition }) => definition.name));
    for (const { definition: { name } } of this.#sources.get(computer) ?? []) {
      if (!names.has(name)) this.#discard(name, computer);
    }
    if (source.length === 0) this.#sources.delete(computer);
    else this.#sources.set(computer, source);
    return source.flatMap((tool) => {
      const entry = toEntry(tool);
      const known = this.#indexed.get(entry.id)?.entry;
      if (known !== undefined && areEqual(known, entry)) {
        this.#indexed.set(entry.id, { tool, entry: known });
        return [];
      }
      if (known !== undefined) this.#discard(entry.id, known.computer);
      this.#indexed.set(entry.id, { tool, entry });
      return [entry];
    });
  }

  /** A name may have gone to another Computer meanwhile. */
  #discard(name: string, computer: string): void {
    if (this.#indexed.get(name)?.entry.computer !== computer) return;
    this.#indexed.delete(name);
    this.#search.discard(name);
  }
}

function areEqual(one: Entry, other: Entry): boolean {
  return FIELDS.every((field) => one[field] === other[field]);
}

function toEntry({ tool, computer, definition }: OfficeTool): Entry {
  const { name, title = "", description = "", _meta } = definition;
  return {
    id: name,
    name: tool,
    title,
    purpose: description.slice(0, PURPOSE_CHARACTERS),
    hints: description.slice(PURPOSE_CHARACTERS, MAX_CHARACTERS),
    schema: schemaTexts(definition).join(" "),
    server: mcpServerOf(_meta) ?? "",
    computer,
  };
}

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
