/** LaTeX: headings, formulas, code and lists by their commands; the rest of the text is shown as it is written. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { codeOf, textOf } from "./markup.ts";

const LEVELS = ["part", "chapter", "section", "subsection", "subsubsection", "paragraph"];
const HEADING = /^\s*\\(part|chapter|section|subsection|subsubsection|paragraph)\*?(?:\[[^\]]*\])?\{(.*)$/;
/** What begins a block of lines that is no running text. */
const BLOCK =
  /^\s*\\begin\{((?:verbatim|lstlisting|minted|equation|align|gather|multline|eqnarray|displaymath|tabular|tabularx|longtable|tikzpicture|algorithmic)\*?)\}/;
const FORMULA = /^(?:equation|align|gather|multline|eqnarray|displaymath)/;
/** A title may stand above the text. */
const TITLE = /^[ \t]*\\title(?:\[[^\]\n]{0,200}\])?\{(.*)\}[ \t]*$/m;

/** The elements of a text. What stands before the text itself is one element of code. */
export function* readTex(text: string): Generator<DocumentElement, void> {
  const start = /^[ \t]*\\begin\{document\}.*$/m.exec(text);
  const preamble = start === null ? "" : text.slice(0, start.index);
  const title = TITLE.exec(text)?.[1];
  const body = start === null ? text : text.slice(start.index + start[0].length);
  if (title !== undefined) yield { category: "heading", content: { level: 1, text: plain(title) } };
  if (preamble.trim() !== "") yield codeOf(preamble.trim(), "latex");
  const lines = body.split("\n");
  const levels = LEVELS.filter((level) => text.includes(`\\${level}`));
  /** The blocks that no later line ends. */
  const unended = new Set<string>();
  let paragraph: string[] = [];
  const take = (): DocumentElement[] => {
    const words = paragraph.join("\n").trim();
    paragraph = [];
    return words === "" ? [] : [textOf(words)];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const [, command = "", rest = ""] = HEADING.exec(line) ?? [];
    const block = BLOCK.exec(line)?.[1];
    const end = block === undefined || unended.has(block) ? -1 : endOf(lines, at, `\\end{${block}}`);
    if (block !== undefined && end < 0) unended.add(block);
    if (command !== "") {
      yield* take();
      const { words, after } = cutBraces(rest);
      const level = levels.indexOf(command) + (title === undefined ? 1 : 2);
      yield { category: "heading", content: { level: Math.min(level, 6), text: plain(words) } };
      paragraph.push(after);
    } else if (end >= 0 && block !== undefined) {
      yield* take();
      const inner = lines.slice(at, end + 1).join("\n").trim();
      yield FORMULA.test(block)
        ? { category: "formula", content: { expression: inner } }
        : codeOf(inner, "latex");
      at = end;
    } else if (line.trim() === "") yield* take();
    else if (!/^\s*\\end\{document\}/.test(line)) paragraph.push(line);
  }
  yield* take();
}

/** The next line that has this command; -1 when there is none. */
function endOf(lines: readonly string[], start: number, command: string): number {
  let at = start;
  while (at < lines.length && !lines[at]?.includes(command)) at++;
  return at < lines.length ? at : -1;
}

/** Up to the brace that ends an argument. */
function cutBraces(text: string): { readonly words: string; readonly after: string } {
  let depth = 1;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "{") depth++;
    else if (text[at] === "}" && --depth === 0) {
      return { words: text.slice(0, at), after: text.slice(at + 1) };
    }
  }
  return { words: text, after: "" };
}

/** The words of a title without its commands. */
function plain(text: string): string {
  return text.replace(/\\(?:label|index)\{[^{}]*\}/g, "").replace(
    /\\[a-zA-Z]+\*?\s*|[{}~]/g,
    (sign) => sign === "~" ? " " : "",
  )
    .replace(/\\([%&#_$])/g, "$1").replace(/\s+/g, " ").trim();
}
