/** Finds tools by what they do: BM25 over names, titles, descriptions, schemas and Computers. */
import type { Json, McpTool } from "../../agent/toolkit/mcp.ts";
import type { OfficeTool } from "../../agent/toolkit/toolset.ts";
import { isRecord } from "../../json.ts";
import { relatedTerms, termsOf } from "./terms.ts";

/** How much a term counts in each field. */
const WEIGHTS = { name: 3, title: 2, computer: 1, description: 1, schema: 0.5 } as const;
/** How much a term counts that only means about the same as one that is searched. */
const RELATED_WEIGHT = 0.35;
/** The parameters of BM25: how soon a repeated term counts no more, and how much the length of a text matters. */
const K1 = 1.2;
const B = 0.6;
/** The most characters of a description, and the most properties of a schema, that are indexed. */
const MAX_CHARACTERS = 4_000;
const MAX_PROPERTIES = 100;
/** How deep a schema is indexed. */
const MAX_DEPTH = 3;

/** A tool in the index. */
interface Entry {
  readonly tool: OfficeTool;
  readonly length: number;
  readonly terms: readonly string[];
}

/** A tool that was found. */
export interface Found {
  readonly tool: OfficeTool;
  readonly score: number;
}

/** An index that changes by Computer: the others keep what was indexed. */
export class ToolIndex {
  readonly #groups = new Map<
    string,
    { readonly source: readonly OfficeTool[]; readonly entries: readonly Entry[] }
  >();
  readonly #postings = new Map<string, Map<Entry, number>>();
  #count = 0;
  #totalLength = 0;

  /** Makes the tools of a Computer these. Does nothing for the same list. */
  set(computer: string, tools: readonly OfficeTool[]): void {
    if (this.#groups.get(computer)?.source === tools) return;
    this.delete(computer);
    this.#groups.set(computer, { source: tools, entries: tools.map((tool) => this.#add(tool)) });
  }

  /** The Computers in the index. */
  get computers(): string[] {
    return [...this.#groups.keys()];
  }

  /** Forgets a Computer. */
  delete(computer: string): void {
    for (const entry of this.#groups.get(computer)?.entries ?? []) this.#remove(entry);
    this.#groups.delete(computer);
  }

  /** The best tools for a query, the best first; equally good ones by name. */
  search(
    query: string,
    { limit, isWanted = () => true }: {
      readonly limit: number;
      readonly isWanted?: (tool: OfficeTool) => boolean;
    },
  ): Found[] {
    const scores = new Map<Entry, number>();
    for (const [term, weight] of weightedTerms(query)) {
      const posting = this.#postings.get(term);
      if (posting === undefined) continue;
      const rarity = Math.log(1 + (this.#count - posting.size + 0.5) / (posting.size + 0.5));
      for (const [entry, frequency] of posting) {
        const score = weight * rarity * this.#saturate(frequency, entry.length);
        scores.set(entry, (scores.get(entry) ?? 0) + score);
      }
    }
    return [...scores].filter(([{ tool }]) => isWanted(tool))
      .map(([{ tool }, score]) => ({ tool, score }))
      .sort((one, other) => other.score - one.score || (nameOf(one) < nameOf(other) ? -1 : 1))
      .slice(0, limit);
  }

  #saturate(frequency: number, length: number): number {
    const average = this.#totalLength / Math.max(1, this.#count);
    return (frequency * (K1 + 1)) / (frequency + K1 * (1 - B + B * (length / average)));
  }

  #add(tool: OfficeTool): Entry {
    const frequencies = frequenciesOf(tool);
    const length = [...frequencies.values()].reduce((sum, frequency) => sum + frequency, 0);
    const entry = { tool, length, terms: [...frequencies.keys()] };
    for (const [term, frequency] of frequencies) {
      const posting = this.#postings.get(term) ?? new Map<Entry, number>();
      this.#postings.set(term, posting.set(entry, frequency));
    }
    this.#count++;
    this.#totalLength += length;
    return entry;
  }

  #remove(entry: Entry): void {
    for (const term of entry.terms) {
      const posting = this.#postings.get(term);
      posting?.delete(entry);
      if (posting?.size === 0) this.#postings.delete(term);
    }
    this.#count--;
    this.#totalLength -= entry.length;
  }
}

function nameOf({ tool }: Found): string {
  return tool.definition.name;
}

/** The terms of a query and what means about the same. */
function weightedTerms(query: string): Map<string, number> {
  const weights = new Map<string, number>();
  const terms = termsOf(query.slice(0, MAX_CHARACTERS));
  for (const term of terms) {
    for (const related of relatedTerms(term)) {
      if (!weights.has(related)) weights.set(related, RELATED_WEIGHT);
    }
  }
  for (const term of terms) weights.set(term, 1);
  return weights;
}

function frequenciesOf({ definition, computer, tool }: OfficeTool): Map<string, number> {
  const frequencies = new Map<string, number>();
  const add = (text: string | undefined, weight: number) => {
    for (const term of termsOf((text ?? "").slice(0, MAX_CHARACTERS))) {
      frequencies.set(term, (frequencies.get(term) ?? 0) + weight);
    }
  };
  add(tool, WEIGHTS.name);
  add(definition.title, WEIGHTS.title);
  add(computer, WEIGHTS.computer);
  add(definition.description, WEIGHTS.description);
  for (const text of schemaTexts(definition)) add(text, WEIGHTS.schema);
  return frequencies;
}

/** The names and descriptions of the properties of a tool's arguments. */
function schemaTexts({ inputSchema }: McpTool): string[] {
  const texts: string[] = [];
  const visit = (schema: Json, depth: number) => {
    const { properties, items } = schema;
    if (isRecord(properties)) {
      for (const [name, property] of Object.entries(properties)) {
        if (texts.length >= 2 * MAX_PROPERTIES) return;
        texts.push(name);
        if (!isRecord(property)) continue;
        if (typeof property["description"] === "string") texts.push(property["description"]);
        if (depth < MAX_DEPTH) visit(property, depth + 1);
      }
    }
    if (isRecord(items) && depth < MAX_DEPTH) visit(items, depth + 1);
  };
  visit(inputSchema, 1);
  return texts;
}
