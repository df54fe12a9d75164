/** Reads a configuration in TOML. */
import { type AST, getStaticTOMLValue, ParseError, parseTOML } from "toml-eslint-parser";
import type { ConfigPath } from "./problem.ts";
import { type ConfigText, isTooDeep, KeyPlaces, refuseDepth, refuseText, withRemedy } from "./text_places.ts";

/** Reads a text. Only the first syntax error is reported. */
export function readTomlText(text: string): ConfigText {
  try {
    const program = parseTOML(text);
    const value: unknown = getStaticTOMLValue(program);
    if (isTooDeep(value)) return refuseDepth({ line: 1, column: 1 });
    return { value, syntax: [], duplicates: [], locate: placesOf(program, text).locate };
  } catch (error) {
    if (error instanceof RangeError) return refuseDepth({ line: 1, column: 1 });
    if (!(error instanceof ParseError)) throw error;
    const { message, lineNumber, column } = error;
    return refuseText({
      message: `invalid TOML: ${stateOf(message)}`,
      path: "",
      line: lineNumber,
      column: column + 1,
    });
  }
}

/** What is wrong and what to do, without the quoted text at the end of the parser's message, which may be a secret. */
function stateOf(message: string): string {
  const state = message.replace(/[:,]? ["'`].*$/s, "");
  const remedy = state.includes("multiple times")
    ? "remove one of them"
    : "check the quotes, brackets and equals signs of this line";
  return withRemedy(state.slice(0, 1).toLowerCase() + state.slice(1), remedy);
}

function placesOf(program: AST.TOMLProgram, text: string): KeyPlaces {
  const places = new KeyPlaces(text);
  for (const node of program.body[0].body) {
    if (node.type === "TOMLKeyValue") {
      addPair(node, [], places);
      continue;
    }
    node.resolvedKey.forEach((_, index) => places.add(node.resolvedKey.slice(0, index + 1), node.range[0]));
    for (const pair of node.body) addPair(pair, node.resolvedKey, places);
  }
  return places;
}

function addPair({ key, value }: AST.TOMLKeyValue, around: ConfigPath, places: KeyPlaces): void {
  let path = around;
  for (const part of key.keys) {
    path = [...path, part.type === "TOMLBare" ? part.name : part.value];
    places.add(path, part.range[0]);
  }
  addContent(value, path, places);
}

function addContent(node: AST.TOMLContentNode, path: ConfigPath, places: KeyPlaces): void {
  if (node.type === "TOMLInlineTable") { for (const pair of node.body) addPair(pair, path, places); }
  if (node.type !== "TOMLArray") return;
  node.elements.forEach((item, index) => {
    places.add([...path, index], item.range[0]);
    addContent(item, [...path, index], places);
  });
}
