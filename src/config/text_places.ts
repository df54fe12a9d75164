/** The value of a configuration text and the places of its keys, the same for all formats. */
import {
  type ConfigIssue,
  type ConfigPath,
  type ConfigProblem,
  formatPath,
  MAX_FINDINGS,
} from "./problem.ts";

export interface ConfigText {
  /** The value; a part of it when the syntax has errors. */
  readonly value: unknown;
  /** Syntax errors, at most one per line. When there are any, the other members are not reliable. */
  readonly syntax: readonly ConfigProblem[];
  /** Duplicate keys, of which a JSON parser would silently use the last. */
  readonly duplicates: readonly ConfigProblem[];
  /** Adds the line and column of an issue: those of its key, or of the key's closest ancestor in the text. */
  locate(issue: ConfigIssue): ConfigProblem;
}

/** A line and a column, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** The deepest nesting that is read; much deeper nesting would overflow the stack. */
export const MAX_DEPTH = 100;

export function refuseDepth(place: Place): ConfigText {
  return refuseText({
    message: `nested more than ${MAX_DEPTH} levels deep`,
    path: "",
    ...place,
  });
}

export function refuseText(problem: ConfigProblem): ConfigText {
  return {
    value: undefined,
    syntax: [problem],
    duplicates: [],
    locate: ({ path, message }) => ({ message, path: formatPath(path) }),
  };
}

export function duplicateKey(key: string | number | undefined): string {
  return `duplicate key${key === undefined ? "" : ` "${key}"`}; remove one of them`;
}

/** Keeps the first error of each line, because one mistake causes many errors after it. */
export function firstOfLines(problems: Iterable<ConfigProblem & Place>): ConfigProblem[] {
  const firsts = new Map<number, ConfigProblem>();
  for (const problem of problems) {
    if (firsts.size === MAX_FINDINGS) break;
    if (!firsts.has(problem.line)) firsts.set(problem.line, problem);
  }
  return [...firsts.values()];
}

/** A syntax error in the words of a parser, with a remedy unless the words already say what to write. */
export function withRemedy(state: string, remedy: string): string {
  return /\b(?:missing|must|expected|need to)\b/i.test(state) ? state : `${state}; ${remedy}`;
}

/** Whether a value is nested too deeply. It looks no deeper than the limit. */
export function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth >= MAX_DEPTH || Object.values(value).some((item) => isTooDeep(item, depth + 1));
}

/** The places of the keys of a text. They are given and kept as offsets: few of them become a line and a column. */
export class KeyPlaces {
  readonly #lineStarts: readonly number[];
  readonly #root: KeyNode;

  constructor(text: string) {
    const ends = text.matchAll(/\r\n|\n|\r/g).map(({ 0: end, index }) => index + end.length);
    this.#lineStarts = [0, ...ends];
    this.#root = { offset: 0, below: undefined };
  }

  /** Adds a key, whose ancestors were added before it; of a duplicate key the first one counts. */
  add(path: ConfigPath, offset: number): void {
    const { node, rest: [key] } = this.#find(path);
    if (key !== undefined) (node.below ??= new Map()).set(key, { offset, below: undefined });
  }

  /** Adds the place of the issue's key, or of the key's closest ancestor. */
  readonly locate = ({ path, message }: ConfigIssue): ConfigProblem => {
    return { message, path: formatPath(path), ...this.placeAt(this.#find(path).node.offset) };
  };

  readonly placeAt = (offset: number): Place => {
    // Binary search for the last line that starts at or before the offset, as a broken file has thousands of places.
    let line = 0;
    for (let end = this.#lineStarts.length; end - line > 1;) {
      const middle = (line + end) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) line = middle;
      else end = middle;
    }
    return { line: line + 1, column: offset - (this.#lineStarts[line] ?? 0) + 1 };
  };

  /** The node at the path, or at its closest ancestor, and the part of the path that is left. */
  #find(path: ConfigPath): { readonly node: KeyNode; readonly rest: ConfigPath } {
    let node = this.#root;
    for (const [index, key] of path.entries()) {
      const next = node.below?.get(key);
      if (next === undefined) return { node, rest: path.slice(index) };
      node = next;
    }
    return { node, rest: [] };
  }
}

interface KeyNode {
  readonly offset: number;
  below: Map<string | number, KeyNode> | undefined;
}
