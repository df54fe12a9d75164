/** A configuration in JSON, in which comments and trailing commas may stand. */
import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { type ConfigPath, type ConfigProblem, formatPath, MAX_FINDINGS } from "./problem.ts";
import { type ConfigText, lineFinder, MAX_DEPTH, type Place, refuseDepth } from "./text_places.ts";

/** A bracket, or what a bracket means nothing in: a text, a comment. */
const BRACKETS = /[[{]|[\]}]|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|\/\/.*|\/\*[^]*?\*\//g;

/** Reads a text without a byte order mark, however broken it is. */
export function readJsonText(text: string): ConfigText {
  const tooDeepAt = findTooDeep(text);
  if (tooDeepAt !== undefined) return refuseDepth(lineFinder(text)(tooDeepAt));
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const placeAt = lineFinder(text);
  const duplicates: ConfigProblem[] = [];
  const value = root === undefined ? undefined : toValue(root, [], (path, offset) => {
    if (duplicates.length === MAX_FINDINGS) return;
    const message = "this key stands twice; leave one of them out";
    duplicates.push({ message, path: formatPath(path), ...placeAt(offset) });
  });
  const members = new WeakMap<Node, ReadonlyMap<string, Node>>();
  return {
    value,
    syntax: hasNoBraces(text, errors) ? [NO_BRACES] : syntaxProblems(errors, placeAt),
    duplicates,
    locate: ({ path, message }) => ({
      message,
      path: formatPath(path),
      ...placeAt(offsetOf(root, path, members)),
    }),
  };
}

/** Where the text is nested too deeply, if it is. */
function findTooDeep(text: string): number | undefined {
  let depth = 0;
  for (const { 0: found, index } of text.matchAll(BRACKETS)) {
    if (found === "{" || found === "[") depth++;
    else if (found === "}" || found === "]") depth--;
    if (depth > MAX_DEPTH) return index;
  }
  return undefined;
}

/** Documentation shows members without the braces around them, and people copy them so. */
const NO_BRACES: ConfigProblem = {
  message: "not JSON: the outer braces are missing; put { before all of it, and } behind",
  path: "",
  line: 1,
  column: 1,
};

function hasNoBraces(text: string, errors: readonly ParseError[]): boolean {
  if (errors.length === 0 || !/^\s*"/.test(text)) return false;
  const mended: ParseError[] = [];
  parseTree(`{${text}\n}`, mended, { allowTrailingComma: true });
  return mended.length === 0;
}

/** One mistake breaks much of what follows it: the first of each line counts. */
function syntaxProblems(errors: readonly ParseError[], placeAt: (offset: number) => Place): ConfigProblem[] {
  const firsts = new Map<number, ConfigProblem>();
  for (const { error, offset } of errors) {
    const place = placeAt(offset);
    if (firsts.size === MAX_FINDINGS) break;
    const message = `not JSON: ${SYNTAX_STATES[printParseErrorCode(error)]}`;
    if (!firsts.has(place.line)) firsts.set(place.line, { message, path: "", ...place });
  }
  return [...firsts.values()];
}

/** None shows the text: it may be a secret. */
const SYNTAX_STATES: Readonly<Record<ReturnType<typeof printParseErrorCode>, string>> = {
  InvalidSymbol: "a word without quotes; texts stand in double quotes",
  InvalidNumberFormat: "an invalid number",
  PropertyNameExpected: "a key in double quotes is missing",
  ValueExpected: "a value is missing",
  ColonExpected: "a colon is missing after the key",
  CommaExpected: "a comma is missing before this",
  CloseBraceExpected: 'a "}" is missing',
  CloseBracketExpected: 'a "]" is missing',
  EndOfFileExpected: "more text after the end; one object is all",
  InvalidCommentToken: "a comment cannot stand here",
  UnexpectedEndOfComment: "a comment does not end",
  UnexpectedEndOfString: "a text does not end; its closing quote is missing",
  UnexpectedEndOfNumber: "a number is cut short",
  InvalidUnicode: "a \\u needs four hexadecimal digits",
  InvalidEscapeCharacter: "an escape that JSON does not know; write a backslash as \\\\",
  InvalidCharacter: "a control character in a text; write it as an escape",
  "<unknown ParseErrorCode>": "this cannot be read",
};

function toValue(
  node: Node,
  path: ConfigPath,
  onDuplicate: (path: ConfigPath, offset: number) => void,
): unknown {
  const children = node.children ?? [];
  if (node.type === "array") {
    return children.map((item, index) => toValue(item, [...path, index], onDuplicate));
  }
  if (node.type !== "object") return node.value;
  const entries = new Map<string, unknown>();
  for (const { children: [key, value] = [] } of children) {
    if (typeof key?.value !== "string") continue;
    const at = [...path, key.value];
    if (entries.has(key.value)) onDuplicate(at, key.offset);
    entries.set(key.value, value === undefined ? undefined : toValue(value, at, onDuplicate));
  }
  return Object.fromEntries(entries);
}

/** The members of the objects that were asked for before, each with its property: its key and value. */
type KnownMembers = WeakMap<Node, ReadonlyMap<string, Node>>;

/** The key of what stands at `path`, or of the nearest thing around it that is there. */
function offsetOf(root: Node | undefined, path: ConfigPath, known: KnownMembers): number {
  if (root === undefined) return 0;
  let node = root;
  let offset = root.offset;
  for (const key of path) {
    const found = typeof key === "number" ? node.children?.[key] : membersOf(node, known).get(key);
    const value = found?.type === "property" ? found.children?.[1] : found;
    if (found === undefined || value === undefined) return offset;
    offset = found.offset;
    node = value;
  }
  return offset;
}

/** The properties of an object by their keys, of which the first of each counts. */
function membersOf(node: Node, known: KnownMembers): ReadonlyMap<string, Node> {
  const before = known.get(node);
  if (before !== undefined) return before;
  const members = new Map<string, Node>();
  for (const property of node.type === "object" ? node.children ?? [] : []) {
    const key: unknown = property.children?.[0]?.value;
    if (typeof key === "string" && !members.has(key)) members.set(key, property);
  }
  known.set(node, members);
  return members;
}
