/** Reads a configuration in JSON, which may have comments and trailing commas. */
import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { type ConfigPath, type ConfigProblem, formatPath, MAX_FINDINGS } from "./problem.ts";
import {
  type ConfigText,
  duplicateKey,
  firstOfLines,
  KeyPlaces,
  MAX_DEPTH,
  type Place,
  refuseDepth,
} from "./text_places.ts";

/** Reads a text, without a byte order mark. It never throws: a syntax error becomes a problem. */
export function readJsonText(text: string): ConfigText {
  const places = new KeyPlaces(text);
  const errors: ParseError[] = [];
  const duplicates: ConfigProblem[] = [];
  try {
    const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
    const value = root === undefined ? undefined : toValue(root, [], { places, duplicates });
    return {
      value,
      syntax: hasNoBraces(text, errors) ? [NO_BRACES] : firstOfLines(syntaxProblems(errors, places)),
      duplicates,
      locate: places.locate,
    };
  } catch (error) {
    if (error instanceof RangeError) return refuseDepth({ line: 1, column: 1 });
    throw error;
  }
}

/** Many documents show members without the braces around them, and users copy them like that. */
const NO_BRACES: ConfigProblem = {
  message: "invalid JSON: the outer braces are missing; add { at the beginning and } at the end",
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

function* syntaxProblems(
  errors: readonly ParseError[],
  { placeAt }: KeyPlaces,
): Generator<ConfigProblem & Place> {
  for (const { error, offset } of errors) {
    const message = `invalid JSON: ${SYNTAX_STATES[printParseErrorCode(error)]}`;
    yield { message, path: "", ...placeAt(offset) };
  }
}

/** The messages do not quote the text, which may be a secret. */
const SYNTAX_STATES: Readonly<Record<ReturnType<typeof printParseErrorCode>, string>> = {
  InvalidSymbol: "unquoted text; put strings in double quotes",
  InvalidNumberFormat: "invalid number; put the value in double quotes if it is a string",
  PropertyNameExpected: "expected a key in double quotes",
  ValueExpected: "expected a value",
  ColonExpected: "expected a colon after the key",
  CommaExpected: "expected a comma",
  CloseBraceExpected: 'expected "}"',
  CloseBracketExpected: 'expected "]"',
  EndOfFileExpected: "unexpected text after the end of the object; remove it",
  InvalidCommentToken: "unexpected comment; remove it",
  UnexpectedEndOfComment: "unterminated comment; add */",
  UnexpectedEndOfString: "unterminated string; add the closing quote",
  UnexpectedEndOfNumber: "incomplete number; add the missing digits",
  InvalidUnicode: "invalid \\u escape; it needs four hexadecimal digits",
  InvalidEscapeCharacter: "unknown escape; write a backslash as \\\\",
  InvalidCharacter: "control character in a string; write it as an escape",
  "<unknown ParseErrorCode>": "invalid syntax; check the commas, quotes and brackets of this line",
};

/** The value of a node, whose keys are added to the places. */
function toValue(
  node: Node,
  path: ConfigPath,
  context: { readonly places: KeyPlaces; readonly duplicates: ConfigProblem[] },
): unknown {
  const { places, duplicates } = context;
  const { children } = node;
  if (children === undefined) return node.value;
  if (path.length >= MAX_DEPTH) throw new RangeError("Cannot read JSON: nested too deeply");
  if (node.type === "array") {
    return children.map((item, index) => {
      places.add([...path, index], item.offset);
      return toValue(item, [...path, index], context);
    });
  }
  const entries = new Map<string, unknown>();
  for (const { children: [key, value] = [] } of children) {
    if (typeof key?.value !== "string") continue;
    const at = [...path, key.value];
    const isDuplicate = entries.has(key.value) && duplicates.length < MAX_FINDINGS;
    if (isDuplicate) {
      const place = places.placeAt(key.offset);
      duplicates.push({ message: duplicateKey(key.value), path: formatPath(at), ...place });
    }
    places.add(at, key.offset);
    entries.set(key.value, value === undefined ? undefined : toValue(value, at, context));
  }
  return Object.fromEntries(entries);
}
