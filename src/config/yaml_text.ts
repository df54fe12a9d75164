/** Reads a configuration in YAML. */
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type ParsedNode,
  parseDocument,
  visit,
  type YAMLError,
} from "yaml";
import { type ConfigPath, MAX_FINDINGS } from "./problem.ts";
import {
  type ConfigText,
  duplicateKey,
  firstOfLines,
  isTooDeep,
  KeyPlaces,
  refuseDepth,
  refuseText,
  withRemedy,
} from "./text_places.ts";

/** The most nodes that aliases may expand to: a few lines of nested aliases could otherwise fill the memory. */
const MAX_ALIAS_COUNT = 100;
/** The most aliases of a text: the parser searches all earlier anchors for each of them. */
const MAX_ALIASES = 1_000;

/** Longer keys are not quoted in messages, in characters. */
const MAX_KEY_LENGTH = 128;

/** Reads a text. It reports the first syntax error of each line. */
export function readYamlText(text: string): ConfigText {
  const places = new KeyPlaces(text);
  const { placeAt } = places;
  try {
    const document = parseDocument(text, { prettyErrors: false, uniqueKeys: true });
    const errors = document.errors.filter(({ code }) => code !== "DUPLICATE_KEY");
    if (errors.some(({ message }) => message.includes("call stack"))) {
      return refuseDepth({ line: 1, column: 1 });
    }
    if (errors.length > 0) {
      const syntax = firstOfLines(errors.map((error) => ({
        message: `invalid YAML: ${stateOf(error)}`,
        path: "",
        ...placeAt(error.pos[0]),
      })));
      return { ...refuseText({ message: "", path: "" }), syntax };
    }
    if (countAliases(document, MAX_ALIASES) >= MAX_ALIASES) {
      const message = `more than ${MAX_ALIASES} YAML aliases`;
      return refuseText({ message, path: "", line: 1, column: 1 });
    }
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIAS_COUNT });
    if (isTooDeep(value)) return refuseDepth({ line: 1, column: 1 });
    addPlaces(document.contents, [], places);
    const duplicates = document.errors.slice(0, MAX_FINDINGS).map((error) => ({
      ...placeAt(error.pos[0]),
      path: "",
      message: duplicateKey(keyAt(error, text)),
    }));
    return { value, syntax: [], duplicates, locate: places.locate };
  } catch (error) {
    if (error instanceof RangeError) return refuseDepth({ line: 1, column: 1 });
    // An alias without an anchor, or aliases that expand to too many nodes
    if (!(error instanceof ReferenceError)) throw error;
    return refuseText({
      message:
        "invalid YAML: an alias is undefined, or aliases expand to too many values; write the values out",
      path: "",
      line: 1,
      column: 1,
    });
  }
}

/** Counts aliases up to `enough`. */
function countAliases(document: Document.Parsed, enough: number): number {
  let count = 0;
  visit(document, { Alias: () => ++count >= enough ? visit.BREAK : undefined });
  return count;
}

/** The key that an error points to; `undefined` for a long or an unusual one. */
function keyAt({ pos: [start] }: YAMLError, text: string): string | undefined {
  const [, quoted, plain] =
    /^(?:"([^"\\\n]+)"|([\w.-]+))\s*:/.exec(text.slice(start, start + MAX_KEY_LENGTH)) ?? [];
  return quoted ?? plain;
}

/** What is wrong and what to do, without the text after the colon of the parser's message, which may be a secret. */
function stateOf({ message, code }: YAMLError): string {
  const state = message.replace(/:.*$/s, "");
  return withRemedy(state.slice(0, 1).toLowerCase() + state.slice(1), REMEDIES[code] ?? ANY_REMEDY);
}

const ANY_REMEDY = "check the indentation, colons and quotes of this line and the line before it";

const REMEDIES: Readonly<Partial<Record<YAMLError["code"], string>>> = {
  BAD_DQ_ESCAPE: "write a backslash as \\\\",
  BAD_SCALAR_START: "put the value in quotes",
  TAB_AS_INDENT: "use spaces",
};

function addPlaces(node: ParsedNode | null, path: ConfigPath, places: KeyPlaces): void {
  const add = (key: string | number, { range: [offset] }: ParsedNode, value: ParsedNode | null) => {
    places.add([...path, key], offset);
    addPlaces(value, [...path, key], places);
  };
  if (isMap(node)) {
    for (const { key, value } of node.items) if (isScalar(key)) add(String(key.value), key, value);
  } else if (isSeq(node)) node.items.forEach((item, index) => add(index, item, item));
}
