/** A configuration in YAML, with the places of its keys. */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  visit,
  type YAMLError,
} from "yaml";
import { type ConfigPath, type ConfigProblem, MAX_FINDINGS } from "./problem.ts";
import { type ConfigText, isTooDeep, KeyPlaces, refuseDepth, refuseText } from "./text_places.ts";

/** How often aliases may be repeated all in all: a few lines of them could otherwise fill the memory. */
const MAX_ALIAS_COUNT = 100;
/** How many aliases may stand in a text: each is looked for among all anchors before it. */
const MAX_ALIASES = 1_000;

/** Reads a text; what is wrong with its syntax is told a problem a line. */
export function readYamlText(text: string): ConfigText {
  const counter = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, uniqueKeys: true });
    const errors = document.errors.filter(({ code }) => code !== "DUPLICATE_KEY");
    if (errors.length > 0) {
      return { ...refuseText({ message: "", path: "" }), syntax: syntaxProblems(errors, counter) };
    }
    if (countAliases(document, MAX_ALIASES) >= MAX_ALIASES) {
      const message = `not readable: more than ${MAX_ALIASES} aliases`;
      return refuseText({ message, path: "", line: 1, column: 1 });
    }
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIAS_COUNT });
    if (isTooDeep(value)) return refuseDepth({ line: 1, column: 1 });
    const places = new KeyPlaces();
    addPlaces(document.contents, [], { places, counter });
    const twice = document.errors.slice(0, MAX_FINDINGS).map((error) => ({
      ...placeOf(error, counter),
      path: "",
      message: "this key stands twice; leave one of them out",
    }));
    return { value, syntax: [], duplicates: twice, locate: (issue) => places.locate(issue) };
  } catch (error) {
    if (error instanceof RangeError) return refuseDepth({ line: 1, column: 1 });
    // Too many aliases, or one without its anchor
    if (!(error instanceof ReferenceError)) throw error;
    return refuseText({ message: "not YAML: an alias cannot be resolved", path: "", line: 1, column: 1 });
  }
}

/** How many aliases there are, counted no further than to `enough`. */
function countAliases(document: Document.Parsed, enough: number): number {
  let count = 0;
  visit(document, { Alias: () => ++count >= enough ? visit.BREAK : undefined });
  return count;
}

function placeOf({ pos: [offset] }: YAMLError, counter: LineCounter) {
  const { line, col } = counter.linePos(offset);
  return { line, column: col };
}

/** One mistake breaks much of what follows it: the first of each line counts. */
function syntaxProblems(errors: readonly YAMLError[], counter: LineCounter): ConfigProblem[] {
  const firsts = new Map<number, ConfigProblem>();
  for (const error of errors) {
    const place = placeOf(error, counter);
    if (firsts.size === MAX_FINDINGS) break;
    const message = `not YAML: ${stateOf(error.message)}`;
    if (!firsts.has(place.line)) firsts.set(place.line, { message, path: "", ...place });
  }
  return [...firsts.values()];
}

/** Without the text that may follow: it may be a secret. */
function stateOf(message: string): string {
  const state = message.replace(/:.*$/s, "");
  return state.slice(0, 1).toLowerCase() + state.slice(1);
}

function addPlaces(
  node: ParsedNode | null,
  path: ConfigPath,
  context: { readonly places: KeyPlaces; readonly counter: LineCounter },
): void {
  const { places, counter } = context;
  const add = (at: ConfigPath, { range: [offset] }: ParsedNode) => {
    const { line, col } = counter.linePos(offset);
    places.add(at, { line, column: col });
  };
  if (node === null || isAlias(node) || isScalar(node)) return;
  if (isMap(node)) {
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      const at = [...path, String(key.value)];
      add(at, key);
      addPlaces(value, at, context);
    }
  }
  if (!isSeq(node)) return;
  node.items.forEach((item, index) => {
    add([...path, index], item);
    addPlaces(item, [...path, index], context);
  });
}
