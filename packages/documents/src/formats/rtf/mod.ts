/** Rich Text files (specification 1.9.1). Objects and macros in them are named, and not run. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { aboutFile } from "../about.ts";
import {
  type ParsedDocument,
  type ParseInput,
  type ParseLimits,
  unreadable,
  UnreadParts,
} from "../format.ts";
import { pictureOf } from "../picture.ts";
import { annotation, divide, documentOf, headingsOf, sectionLevel } from "../sections.ts";
import { type ParagraphForm, RtfBlocks } from "./blocks.ts";

/** A control word with its number, a byte, a control symbol, a brace, the end of a line, or text. */
const TOKEN = /\\(?:([a-zA-Z]{1,64})(-?\d{1,10})? ?|'([\da-fA-F]{2})|([^]))|([{}])|[\r\n]+|[^\\{}\r\n]+/y;
/** Texts that stand for themselves; something is made of them at their end. */
const APART = setOf(
  "title subject author keywords doccomm creatim revtim fldinst listtext pntext footnote annotation atnauthor header headerl " +
    "headerr headerf footer footerl footerr footerf",
);
/** Groups that are a part of the text around them. */
const SHOWN = setOf("rtf field fldrslt nesttableprops shp shptxt shppict object result ud pn");
const SKIPPED = setOf(
  "info colortbl listtable listoverridetable rsidtbl generator themedata datastore filetbl revtbl nonesttables nonshppict " +
    "objdata objclass bkmkstart bkmkend upr shpinst sp private tc xe",
);
const SIGNS: Readonly<Record<string, string>> = {
  ...{ tab: "\t", line: "\n", emdash: "—", endash: "–", bullet: "•", emspace: " ", enspace: " " },
  ...{ lquote: "‘", rquote: "’", ldblquote: "“", rdblquote: "”", nestcell: " | ", nestrow: "\n" },
  ...{ "~": "\u00a0", "_": "‑", "{": "{", "}": "}", "\\": "\\" },
};
/** The encodings of the character sets of fonts, and of code pages that are not called by their number. */
const CHARSETS: Readonly<Record<number, string>> = {
  ...{ 77: "macintosh", 128: "shift_jis", 129: "euc-kr", 134: "gbk", 136: "big5", 161: "windows-1253" },
  ...{ 162: "windows-1254", 163: "windows-1258", 177: "windows-1255", 178: "windows-1256" },
  ...{ 186: "windows-1257", 204: "windows-1251", 222: "windows-874", 238: "windows-1250" },
};
const CODE_PAGES: Readonly<Record<number, string>> = {
  ...{ 932: "shift_jis", 936: "gbk", 949: "euc-kr", 950: "big5", 866: "ibm866" },
  ...{ 10000: "macintosh", 65001: "utf-8" },
};
/** What a word says of letters, by whether it turns that on. */
const LETTERS: Readonly<Record<string, (isOn: boolean) => Partial<Group>>> = {
  plain: () => ({ position: undefined, isStruck: false, hidden: undefined }),
  super: (isOn) => ({ position: isOn ? "sup" : undefined }),
  sub: (isOn) => ({ position: isOn ? "sub" : undefined }),
  nosupersub: () => ({ position: undefined }),
  strike: (isStruck) => ({ isStruck }),
  striked: (isStruck) => ({ isStruck }),
  v: (isOn) => ({ hidden: isOn ? "hidden text" : undefined }),
  deleted: (isOn) => ({ hidden: isOn ? "deleted text" : undefined }),
};
const PICTURES: Readonly<Record<string, string>> = {
  ...{ pngblip: "png", jpegblip: "jpeg", emfblip: "emf", wmetafile: "wmf" },
};
/** The parts of a date, and what stands before them. */
const DATE: Readonly<Record<string, string>> = { yr: "", mo: "-", dy: "-", hr: "T", min: ":" };
interface Group {
  /** Where its text goes: `apart` is a text of its own. */
  readonly target: "body" | "skip" | "apart" | "fonts" | "styles" | "picture";
  /** The word that named it; empty for a group that only has other forms. */
  readonly name: string;
  readonly position?: "sup" | "sub" | undefined;
  readonly isStruck?: boolean;
  /** What kind of text that is not shown it is. */
  readonly hidden?: "hidden text" | "deleted text" | undefined;
  readonly font?: number;
  /** How many characters stand after one of Unicode for programs that know none. */
  readonly substitutes: number;
}

/** Opens a file. Its pages are what is between page breaks, and sections under top headings. */
export function open({ bytes, fileName, limits }: ParseInput): ParsedDocument {
  // A character for each byte, since the encoding changes with the font.
  const source = new TextDecoder("x-user-defined").decode(bytes);
  const start = source.slice(0, 1_000).indexOf("{\\rtf");
  if (start < 0) throw unreadable("damaged", "the file is no Rich Text");
  const reader = new RtfReader(limits);
  const segments = reader.read(source.slice(start));
  const { said, margins, unread } = reader;
  const elements = segments.flat();
  const title = said.get("title") ?? headingsOf(elements, 1)[0];
  const level = sectionLevel(elements);
  const pages = segments.flatMap((segment) => divide(segment, { title: title ?? fileName, level }));
  const [first = { title: title ?? fileName, elements: [] }, ...others] = pages;
  const ofKind = (kind: string) => margins.filter(({ category }) => category === kind);
  return documentOf([
    { ...first, elements: [...ofKind("header"), ...first.elements, ...ofKind("footer")] },
    ...others,
  ], {
    elements,
    title,
    subject: said.get("subject") ?? said.get("doccomm"),
    keywords: said.get("keywords")?.split(/[,;]/).map((word) => word.trim()).filter(Boolean) ?? [],
    about: aboutFile({
      author: said.get("author"),
      created: said.get("creatim"),
      changed: said.get("revtim"),
      description: said.get("doccomm") ?? said.get("subject"),
    }),
    losses: unread.losses,
  });
}

class RtfReader {
  readonly unread = new UnreadParts();
  /** What the file says of itself, by the names of RTF. */
  readonly said = new Map<string, string>();
  readonly margins: DocumentElement[] = [];
  readonly #limits: ParseLimits;
  readonly #blocks = new RtfBlocks();
  readonly #groups: Group[] = [];
  readonly #fonts = new Map<number, string>();
  /** The levels of the styles of headings. */
  readonly #headings = new Map<number, number>();
  readonly #links: { url: string; readonly place: number }[] = [];
  /** The texts apart, the innermost last. */
  readonly #apart: string[] = [];
  #group: Group = { target: "body", name: "", substitutes: 1 };
  #encoding = "windows-1252";
  #paragraph: ParagraphForm = {};
  /** Bytes whose characters may not have ended. */
  #bytes = "";
  /** How many characters are left out, since they stand for one of Unicode. */
  #left = 0;
  #isOptional = false;
  /** The font or the style that is defined. */
  #defined = 0;
  #picture: { type: string; readonly hex: string[] } = { type: "", hex: [] };
  #notes = 0;
  #author = "";

  constructor(limits: ParseLimits) {
    this.#limits = limits;
  }

  /** What is between the ends of pages. */
  read(source: string): DocumentElement[][] {
    const pattern = new RegExp(TOKEN);
    for (let match; (match = pattern.exec(source)) !== null;) {
      const [text, name, digits, hex, sign, brace] = match;
      const value = digits === undefined ? undefined : Number(digits);
      const word = name ?? sign ?? brace;
      // So many bytes are no text, whatever they look like.
      if (name === "bin") pattern.lastIndex += Math.max(value ?? 0, 0);
      else if (hex !== undefined) this.#take(String.fromCharCode(Number.parseInt(hex, 16)));
      else if (word === undefined) this.#take(text.replace(/^[\r\n]+/, ""));
      else if (word === "u" && value !== undefined) {
        this.#write(String.fromCharCode(value & 0xffff));
        this.#left = this.#group.substitutes;
      } else {
        this.#flush();
        this.#left = 0;
        if (brace === "{") this.#open();
        else if (brace === "}") this.#close();
        else if (word === "*") this.#isOptional = true;
        else this.#word(word, value);
      }
    }
    this.#flush();
    return this.#blocks.placed.read(this.#blocks.toHtml(), this.#limits);
  }

  #take(text: string): void {
    const shown = text.slice(this.#left);
    this.#left = Math.max(this.#left - text.length, 0);
    if (this.#group.target === "picture") this.#picture.hex.push(shown);
    else this.#bytes += shown;
  }

  #open(): void {
    if (this.#groups.length > this.#limits.maxDepth) {
      throw unreadable("too_large", `it is nested deeper than ${this.#limits.maxDepth} levels`);
    }
    this.#groups.push(this.#group);
    this.#group = { ...this.#group, name: "" };
  }

  /** Writes the bytes so far. */
  #flush(): void {
    if (this.#bytes === "") return;
    const bytes = Uint8Array.from(this.#bytes, (character) => character.charCodeAt(0) & 0xff);
    this.#bytes = "";
    const encoding = this.#fonts.get(this.#group.font ?? -1) ?? this.#encoding;
    this.#write(new TextDecoder(encoding).decode(bytes));
  }

  #write(text: string): void {
    this.#flush();
    const { target, position, isStruck, hidden } = this.#group;
    if (target === "apart") this.#apart[this.#apart.length - 1] += text;
    else if (target === "body" && hidden !== undefined) this.unread.add(hidden);
    else if (target === "body") {
      this.#blocks.add(text, [...position ? [position] : [], ...isStruck ? ["s"] : []]);
    }
  }

  #word(name: string, value: number | undefined): void {
    const isOptional = this.#isOptional;
    this.#isOptional = false;
    const { target } = this.#group;
    const [sign, letters, date] = [SIGNS[name], LETTERS[name], DATE[name]];
    if (this.#enter(name, isOptional)) return;
    if (target === "fonts" || target === "styles") this.#define(name, value ?? 0);
    else if (target === "picture") this.#picture.type = PICTURES[name] ?? this.#picture.type;
    else if (sign !== undefined) this.#write(sign);
    else if (letters !== undefined) this.#group = { ...this.#group, ...letters(value !== 0) };
    else if (name === "f") this.#group = { ...this.#group, font: value ?? 0 };
    else if (name === "uc") {
      this.#group = { ...this.#group, substitutes: Math.min(Math.max(value ?? 1, 0), 10) };
    } else if (name === "ansicpg") this.#encoding = encodingOf(value ?? 0) ?? this.#encoding;
    else if (name === "mac") this.#encoding = "macintosh";
    else if (target === "body") this.#layout(name, value ?? 0);
    else if (name === "par") this.#write("\n");
    else if (date !== undefined) this.#write(date + String(value ?? 0).padStart(2, "0"));
  }

  /** Whether a word says where the text of its group goes. */
  #enter(name: string, isOptional: boolean): boolean {
    const { target } = this.#group;
    const set = (target: Group["target"]) => {
      this.#group = { ...this.#group, target, name };
      return true;
    };
    if (name === "fonttbl") return set("fonts");
    if (name === "stylesheet") return set("styles");
    if (SKIPPED.has(name)) return set("skip");
    if (target === "body" && name === "pict") {
      this.#picture = { type: "", hex: [] };
      return set("picture");
    }
    if (APART.has(name) && target !== "apart" && target !== "styles") {
      this.#apart.push("");
      return set("apart");
    }
    if (!SHOWN.has(name)) return isOptional && set("skip");
    if (name === "field") this.#links.push({ url: "", place: this.#blocks.place });
    if (name === "object") this.unread.add("embedded object");
    // Those two are shown, though they are in a group that is not.
    const isInner = name === "shptxt" || name === "ud";
    set(isInner ? this.#groups.some((group) => group.target === "apart") ? "apart" : "body" : target);
    if (name === "shptxt") this.#write("\n");
    return true;
  }

  #close(): void {
    const { target, name } = this.#group;
    this.#group = this.#groups.pop() ?? this.#group;
    if (target === "apart" && APART.has(name)) this.#endApart(name, this.#apart.pop()?.trim() ?? "");
    else if (target === "picture" && name === "pict") this.#endPicture();
    else if (name === "shptxt") this.#blocks.endParagraph({});
    else if (name === "field") this.#blocks.link(this.#links.pop());
  }

  #endApart(name: string, text: string): void {
    const link = this.#links.at(-1);
    const margin = /^(header|footer)/.exec(name)?.[1] as "header" | "footer" | undefined;
    if (name === "listtext" || name === "pntext") this.#blocks.mark = text === "" ? undefined : text;
    else if (name === "fldinst") {
      const url = /^HYPERLINK\s+(?:\\[a-z]\s+)*"([^"]+)"/i.exec(text)?.[1] ?? "";
      if (link !== undefined && /^[a-z][a-z\d+.-]*:/i.test(url)) link.url = url;
    } else if (name === "atnauthor") this.#author = text;
    else if (text === "") return;
    else if (name === "footnote") {
      const mark = String(++this.#notes);
      this.#write(`[${mark}]`);
      this.#blocks.addOther(annotation(`footnote ${mark}`, { text, kind: "footnote", mark }));
    } else if (name === "annotation") {
      const said = this.#author === "" ? {} : { author: this.#author };
      this.#blocks.addOther(annotation(["Comment", ...Object.values(said)].join(" by "), { text, ...said }));
    } else if (margin === undefined) this.said.set(name, text);
    // The same margin stands once; a number of a page alone says nothing.
    else if (
      /\p{L}/u.test(text) &&
      !this.margins.some(({ category, content }) => category === margin && content.text === text)
    ) {
      this.margins.push({ category: margin, content: { text } });
    }
  }

  #endPicture(): void {
    const { type, hex } = this.#picture;
    const digits = hex.join("").replace(/[^\da-fA-F]/g, "");
    const bytes = Uint8Array.fromHex(digits.slice(0, digits.length & ~1));
    if (bytes.length === 0 || type !== "png" && type !== "jpeg") {
      return this.unread.add(`picture (${type || "unknown"})`);
    }
    this.#blocks.addOther({ category: "image", content: pictureOf(bytes, { description: "", type }) });
  }

  /** Takes what a word says of a font or a style. */
  #define(name: string, value: number): void {
    const { target } = this.#group;
    if (name === (target === "fonts" ? "f" : "s")) this.#defined = value;
    const encoding = name === "fcharset" ? CHARSETS[value] : name === "cpg" ? encodingOf(value) : undefined;
    if (encoding !== undefined) this.#fonts.set(this.#defined, encoding);
    if (target === "styles" && name === "outlinelevel") this.#headings.set(this.#defined, value);
  }

  #layout(name: string, value: number): void {
    const set = (change: ParagraphForm) => void (this.#paragraph = { ...this.#paragraph, ...change });
    switch (name) {
      case "par":
      case "\n":
      case "\r":
        return this.#blocks.endParagraph(this.#paragraph);
      case "cell":
        return this.#blocks.endCell(this.#paragraph);
      case "row":
        return this.#blocks.endRow();
      case "page":
      case "sect":
        return this.#blocks.breakPage();
      case "pard":
        return void (this.#paragraph = {});
      case "s":
        return set({ heading: levelOf(this.#headings.get(value) ?? NaN) });
      case "outlinelevel":
        return set({ heading: levelOf(value) });
      case "intbl":
        return set({ isInTable: true });
      case "ilvl":
        return set({ level: value });
      case "li":
        return set({ indent: value });
    }
  }
}

function levelOf(outline: number): number | undefined {
  return outline < 9 ? Math.min(Math.max(outline, 0) + 1, 6) : undefined;
}

/** The encoding of a code page; `undefined` for one that is unknown. */
function encodingOf(page: number): string | undefined {
  try {
    return new TextDecoder(CODE_PAGES[page] ?? `windows-${page}`).encoding;
  } catch {
    return undefined;
  }
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}
