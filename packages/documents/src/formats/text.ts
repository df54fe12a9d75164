/** Plain text, and the light markup that people write in it, such as AsciiDoc, Org and headings that are underlined. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import type { ParsedDocument, ParseInput } from "./format.ts";
import { type DecodedText, decodeText } from "./decode_text.ts";
import { extensionOf } from "../file_name.ts";
import { divide, documentOf, headingsOf, openingOf, toSections } from "./sections.ts";

/** Opens a text. Its pages are those between form feeds, else the sections under its top headings. */
export function open({ bytes, fileName }: ParseInput): ParsedDocument {
  return readText(decodeText(bytes), fileName);
}

export function readText({ text, losses }: DecodedText, fileName: string): ParsedDocument {
  const read = READERS[extensionOf(fileName)] ?? toElements;
  const sheets = text.split("\f").map((sheet) => [...read(sheet)]);
  const pages = sheets.length > 1
    ? sheets.flatMap((elements, index) =>
      divide(elements, { title: headingsOf(elements, 1)[0] ?? `Page ${index + 1}` })
    )
    : toSections(sheets[0] ?? [], fileName);
  const all = sheets.flat();
  return documentOf(pages, { elements: all, opening: openingOf(all), losses });
}

/** The readers of markup whose headings are no headings elsewhere, by the ends of file names. */
const READERS: Readonly<Record<string, (text: string) => Iterable<DocumentElement>>> = {
  org: (text) => toElements(text.replace(/^\*{1,6}(?=[ \t]+\S)/gm, (stars) => "#".repeat(stars.length))),
  tex: readTex,
};

const TEX_HEADING =
  /^[ \t]*\\(title|part|chapter|(?:sub){0,2}section|paragraph)\*?(?:\[[^\]\n]{0,200}\])?\{(.{1,400}\})[ \t]*$/gm;
const TEX_LEVELS = ["title", "part", "chapter", "section", "subsection", "subsubsection", "paragraph"];
const TEX_BEGIN = "\\begin{document}";

/** The elements of LaTeX: its headings, what stands before the text as code, and the rest as it is written. */
function readTex(text: string): Iterable<DocumentElement> {
  const [preamble = "", body] = text.includes(TEX_BEGIN) ? text.split(TEX_BEGIN, 2) : ["", text];
  const commands = TEX_LEVELS.filter((level) => text.includes(`\\${level}`));
  const marked = (_: string, command = "", title = "") => {
    const words = title.replace(/\\(?:label|index)\{[^{}]*\}/g, "")
      .replace(/\\[a-zA-Z]+\*?\s*|[{}]|\\(?=[%&#_$])/g, "").replaceAll("~", " ");
    return `\n${"#".repeat(Math.min(commands.indexOf(command) + 1, 6))} ${words}\n`;
  };
  const titles = preamble.matchAll(TEX_HEADING).map(([line, command, title]) => marked(line, command, title));
  const before = preamble.trim() === "" ? "" : `\n~~~~ latex\n${preamble.trim()}\n~~~~\n`;
  return toElements([...titles, before, body?.replace(TEX_HEADING, marked)].join(""));
}

/** The elements of a text without markup of its own. */
export function toElements(text: string): Iterable<DocumentElement> {
  return new BlockReader(text.split("\n")).read();
}

const UNDERLINE = /^([=\-~^"'*+#_])\1{2,}\s*$/;
const MARKED_HEADING = /^(={1,6}|#{1,6})[ \t]+([^\s=].*)$/;
const ITEM = /^[ \t]*(?:[-*•+]|(\d{1,9})[.)])[ \t]+(\S.*)$/;
const FENCE = /^(`{3,}|-{4,}|\.{4,}|~{3,})(?:[ \t]*(\w+))?[ \t]*$/;

/** A heading by its number in Chinese: `第一章 总则`, `第2节`. A line of it stands for itself, also between others. */
const CHINESE_HEADING =
  /^[ \t\u3000]*(第[ ]?[〇零一二三四五六七八九十百千两\d０-９]{1,8}[ ]?([章节節]|[部卷篇编編回集](?=$|[ \t\u3000:：]))[^。，；！？]{0,40})$/;
/** Such a line whose text follows without a space: a sentence may begin like it. */
const CHINESE_SENTENCE = /^第[^章节節]+[章节節][^ \t\u3000:：]/;
/** An entry of a table of contents, which ends with the number of a page. */
const CONTENTS_ENTRY = /(?:[.．·…]{2,}|\t)[ \t]*\d{1,4}[ \t]*$/;
/** A long line that ends within a sentence. */
const UNENDED_LINE = /^.{19,}[\p{L}，、]$/u;
/** A heading by its number in English: `Chapter 3`, `PART II: The Sea`. A sentence may begin like it. */
const ENGLISH_HEADING =
  /^ {0,3}((Part|Book|Chapter|Section|PART|BOOK|CHAPTER|SECTION) (?:\d{1,4}|[IVXLC]{1,8})(?:[.:]?|[.:]? .{0,80}[^.,;!?]))$/;

class BlockReader {
  readonly #lines: readonly string[];
  /** What marks headings, an underline or a word with a number, in the order of their levels. */
  readonly #marks: string[] = [];
  /** The marks of code that no later line has. */
  readonly #unended = new Set<string>();
  #at = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  *read(): Generator<DocumentElement, void> {
    while (this.#at < this.#lines.length) {
      if (this.#line(0).trim() === "") this.#at++;
      else yield this.#heading() ?? this.#fenced() ?? this.#indented() ?? this.#list() ?? this.#paragraph();
    }
  }

  #line(offset: number): string {
    return this.#lines[this.#at + offset] ?? "";
  }

  #heading(): DocumentElement | undefined {
    const marked = MARKED_HEADING.exec(this.#line(0));
    if (marked !== null) {
      this.#at++;
      const [, mark = "", text = ""] = marked;
      return { category: "heading", content: { level: mark.length, text: text.trim() } };
    }
    return this.#underlined() ?? this.#numbered();
  }

  #underlined(): DocumentElement | undefined {
    const overlined = UNDERLINE.exec(this.#line(0));
    const offset = overlined === null ? 0 : 1;
    const text = this.#line(offset).trim();
    const mark = UNDERLINE.exec(this.#line(offset + 1))?.[1];
    const isUnderlined = mark !== undefined && text !== "" && !UNDERLINE.test(text) &&
      this.#line(offset + 1).trim().length * 2 >= text.length;
    if (!isUnderlined || (overlined !== null && overlined[1] !== mark)) return undefined;
    this.#at += offset + 2;
    return { category: "heading", content: { level: this.#levelOf(`${offset}${mark}`), text } };
  }

  #numbered(): DocumentElement | undefined {
    const isAlone = this.#line(-1).trim() === "" && this.#line(1).trim() === "";
    const [, text, word = ""] = this.#chinese() ??
      (isAlone ? ENGLISH_HEADING.exec(this.#line(0)) : null) ?? [];
    if (text === undefined) return undefined;
    this.#at++;
    return { category: "heading", content: { level: this.#levelOf(word.toLowerCase()), text: text.trim() } };
  }

  #chinese(): RegExpExecArray | null {
    const match = CHINESE_HEADING.exec(this.#line(0));
    const text = match?.[1] ?? "";
    if (CONTENTS_ENTRY.test(text)) return null;
    const before = this.#line(-1).trim();
    const goesOn = UNENDED_LINE.test(before) && !CHINESE_HEADING.test(before);
    return goesOn && CHINESE_SENTENCE.test(text) ? null : match;
  }

  #levelOf(mark: string): number {
    if (!this.#marks.includes(mark)) this.#marks.push(mark);
    return Math.min(this.#marks.indexOf(mark) + 1, 6);
  }

  #fenced(): DocumentElement | undefined {
    const fence = FENCE.exec(this.#line(0));
    if (fence === null) return undefined;
    const [, mark = "", language = ""] = fence;
    const end = this.#endOf(mark);
    if (end === undefined) return undefined;
    const code = this.#lines.slice(this.#at + 1, end).join("\n");
    this.#at = end + 1;
    return { category: "code", content: language === "" ? { code } : { language, code } };
  }

  /** The next line that is this mark alone. */
  #endOf(mark: string): number | undefined {
    if (this.#unended.has(mark)) return undefined;
    for (let at = this.#at + 1; at < this.#lines.length; at++) {
      if (this.#lines[at]?.trimEnd() === mark) return at;
    }
    this.#unended.add(mark);
    return undefined;
  }

  #indented(): DocumentElement | undefined {
    const lines: string[] = [];
    for (; /^(?: {4}|\t)/.test(this.#line(0)); this.#at++) {
      lines.push(this.#line(0).replace(/^(?: {4}|\t)/, ""));
    }
    return lines.length === 0 ? undefined : { category: "code", content: { code: lines.join("\n") } };
  }

  #list(): DocumentElement | undefined {
    const first = ITEM.exec(this.#line(0));
    if (first === null) return undefined;
    const isOrdered = first[1] !== undefined;
    const items: string[] = [];
    for (; this.#at < this.#lines.length; this.#at++) {
      const item = ITEM.exec(this.#line(0));
      if (item !== null && (item[1] !== undefined) === isOrdered) items.push(item[2]?.trim() ?? "");
      else if (item === null && /^[ \t]+\S/.test(this.#line(0))) {
        items.push(`${items.pop()}\n${this.#line(0).trim()}`);
      } else break;
    }
    const start = Number(first[1]);
    if (!isOrdered) return { category: "list", content: { items } };
    return { category: "list", content: { ordered: true, ...(start === 1 ? {} : { start }), items } };
  }

  #paragraph(): DocumentElement {
    const start = this.#at++;
    while (this.#at < this.#lines.length && !this.#startsBlock()) this.#at++;
    return { category: "text", content: { text: this.#lines.slice(start, this.#at).join("\n").trimEnd() } };
  }

  #startsBlock(): boolean {
    const line = this.#line(0);
    if (line.trim() === "" || MARKED_HEADING.test(line) || FENCE.test(line) || ITEM.test(line)) return true;
    if (this.#chinese() !== null) return true;
    return UNDERLINE.test(this.#line(1)) && this.#line(1).trim().length * 2 >= line.trim().length;
  }
}
