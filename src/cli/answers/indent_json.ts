/** JSON of one line as JSON that people can read. */

/** What is outside of strings and white space: a sign, or a number, `true`, `false`, `null`. */
const TOKENS = /[{}[\]:,]|[^\s{}[\]:,]+/g;
const INDENT = "  ";
/** What is deeper is indented no further: the text grows by a constant factor at most. */
const MAX_INDENT = 20;

/**
 * Puts each member and element of JSON that can be read on a line of its own. Numbers, strings and repeated names stay
 * as they are written, which reading and writing them again would not promise.
 */
export function indentJson(json: string): string {
  let depth = 0;
  let isEmpty = false;
  const pieces: string[] = [];
  const newLine = () => pieces.push("\n", INDENT.repeat(Math.min(depth, MAX_INDENT)));
  for (const token of tokensOf(json)) {
    const closes = token === "}" || token === "]";
    if (closes) depth--;
    if (closes !== isEmpty) newLine();
    isEmpty = token === "{" || token === "[";
    pieces.push(token === ":" ? ": " : token);
    if (isEmpty) depth++;
    else if (token === ",") newLine();
  }
  return pieces.join("");
}

function* tokensOf(json: string): Generator<string> {
  let start = 0;
  while (start < json.length) {
    const quote = json.indexOf('"', start);
    const plain = json.slice(start, quote < 0 ? json.length : quote);
    for (const [token] of plain.matchAll(TOKENS)) yield token;
    if (quote < 0) return;
    start = endOfString(json, quote);
    yield json.slice(quote, start);
  }
}

/** Behind the quote that ends a string: one with an even number of backslashes before it. */
function endOfString(json: string, start: number): number {
  let quote = start;
  while (true) {
    quote = json.indexOf('"', quote + 1);
    if (quote < 0) return json.length;
    let slash = quote;
    while (json[slash - 1] === "\\") slash--;
    if ((quote - slash) % 2 === 0) return quote + 1;
  }
}
