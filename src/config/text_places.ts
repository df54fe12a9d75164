/** What the text of a configuration says and where, whatever the format that it is written in. */
import { type ConfigIssue, type ConfigPath, type ConfigProblem, formatPath } from "./problem.ts";

/** What a text says, and where it says it. */
export interface ConfigText {
  /** The value; what could be made out of it where the syntax is broken. */
  readonly value: unknown;
  /** Where the syntax is broken, a problem a line. While there are any, the rest is not to be trusted. */
  readonly syntax: readonly ConfigProblem[];
  /** Keys that stand twice in one object: JSON would silently take the last. */
  readonly duplicates: readonly ConfigProblem[];
  /** Finds the place of an issue: its key, or the nearest thing around it that is there. */
  locate(issue: ConfigIssue): ConfigProblem;
}

/** A line and a column, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Nothing that anybody configures is nested deeper; what is much deeper would exhaust the stack of its readers. */
export const MAX_DEPTH = 100;

/** The answer for a text that is nested too deeply. */
export function refuseDepth(place: Place): ConfigText {
  return refuseText({
    message: `not readable: nested more than ${MAX_DEPTH} levels deep`,
    path: "",
    ...place,
  });
}

/** The answer for a text of which nothing can be read. */
export function refuseText(problem: ConfigProblem): ConfigText {
  return {
    value: undefined,
    syntax: [problem],
    duplicates: [],
    locate: ({ path, message }) => ({ message, path: formatPath(path) }),
  };
}

/** Whether a value is nested too deeply, without going deeper than that. */
export function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth >= MAX_DEPTH || Object.values(value).some((item) => isTooDeep(item, depth + 1));
}

/** Gives the place of each offset in a text. */
export function lineFinder(text: string): (offset: number) => Place {
  const starts = [0, ...text.matchAll(/\r\n|\n|\r/g).map(({ 0: end, index }) => index + end.length)];
  return (offset) => {
    // The last line that starts at the offset or before: a broken file may ask for thousands of places.
    let line = 0;
    for (let end = starts.length; end - line > 1;) {
      const middle = (line + end) >> 1;
      if ((starts[middle] ?? 0) <= offset) line = middle;
      else end = middle;
    }
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}

/** Where the keys of a text stand, by their paths. */
export class KeyPlaces {
  readonly #places = new Map<string, Place>();

  /** The first place of a path counts. */
  add(path: ConfigPath, place: Place): void {
    const key = JSON.stringify(path);
    if (!this.#places.has(key)) this.#places.set(key, place);
  }

  /** Gives an issue the place of its key, or of the nearest thing around it that is there. */
  locate({ path, message }: ConfigIssue): ConfigProblem {
    for (let length = path.length; length > 0; length--) {
      const place = this.#places.get(JSON.stringify(path.slice(0, length)));
      if (place !== undefined) return { message, path: formatPath(path), ...place };
    }
    return { message, path: formatPath(path), line: 1, column: 1 };
  }
}
