/** Reads a Rich Text file: its groups, the forms of letters and paragraphs, and what stands apart from its text. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { type ParseLimits, unreadable, UnreadParts } from "../format.ts";
import { pictureOf } from "../picture.ts";
import { annotation } from "../sections.ts";
import { type ParagraphForm, RtfBlocks } from "./blocks.ts";
import { APART, encodingOf, readTokens, type RtfToken, SHOWN, SIGNS, SKIPPED } from "./words.ts";

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

export class RtfReader {
  readonly blocks = new RtfBlocks();
  readonly unread = new UnreadParts();
  /** What the file says of itself, by the names of RTF. */
  readonly said = new Map<string, string>();
  readonly margins: DocumentElement[] = [];
  readonly #maxDepth: number;
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
  /** The mark of an item. */
  #mark: string | undefined;
  /** Bytes whose characters may not have ended. */
  #bytes: number[] = [];
  /** How many characters are left out, since they stand for one of Unicode. */
  #left = 0;
  #isOptional = false;
  /** The font or the style that is defined. */
  #defined = 0;
  #picture: { type: string; readonly hex: string[] } = { type: "", hex: [] };
  #notes = 0;
  #author = "";

  constructor({ maxDepth }: ParseLimits) {
    this.#maxDepth = maxDepth;
  }

  read(source: string): void {
    for (const token of readTokens(source)) this.#token(token);
    this.#flush();
  }

  #token({ kind, text, value }: RtfToken): void {
    if (kind === "byte") {
      if (this.#left > 0) this.#left--;
      else this.#bytes.push(value ?? 0);
    } else if (kind === "text") {
      const shown = text.slice(this.#left);
      this.#left = Math.max(this.#left - text.length, 0);
      if (this.#group.target === "picture") this.#picture.hex.push(shown);
      else for (let at = 0; at < shown.length; at++) this.#bytes.push(shown.charCodeAt(at));
    } else if (text === "u" && value !== undefined) {
      this.#write(String.fromCharCode(value & 0xffff));
      this.#left = this.#group.substitutes;
    } else {
      this.#flush();
      this.#left = 0;
      if (kind === "open") this.#open();
      else if (kind === "close") this.#close();
      else if (text === "*") this.#isOptional = true;
      else this.#word(text, value);
    }
  }

  #open(): void {
    if (this.#groups.length > this.#maxDepth) {
      throw unreadable("too_large", `it is nested deeper than ${this.#maxDepth} levels`);
    }
    this.#groups.push(this.#group);
    this.#group = { ...this.#group, name: "" };
  }

  /** Writes the bytes so far. */
  #flush(): void {
    if (this.#bytes.length === 0) return;
    const bytes = Uint8Array.from(this.#bytes.splice(0));
    const encoding = this.#fonts.get(this.#group.font ?? -1) ?? this.#encoding;
    this.#write(new TextDecoder(encoding).decode(bytes));
  }

  #write(text: string): void {
    this.#flush();
    const { target, position, isStruck, hidden } = this.#group;
    if (target === "apart") this.#apart[this.#apart.length - 1] += text;
    else if (target === "body" && hidden !== undefined) this.unread.add(hidden);
    else if (target === "body") {
      this.blocks.add(text, [...position ? [position] : [], ...isStruck ? ["s"] : []]);
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
    if (name === "field") this.#links.push({ url: "", place: this.blocks.place });
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
    else if (name === "shptxt") this.blocks.endParagraph({});
    else if (name === "field") {
      const { url, place } = this.#links.pop() ?? { url: "", place: 0 };
      if (url !== "") this.blocks.link(url, place);
    }
  }

  #endApart(name: string, text: string): void {
    const link = this.#links.at(-1);
    const margin = /^(header|footer)/.exec(name)?.[1] as "header" | "footer" | undefined;
    if (name === "listtext" || name === "pntext") this.#mark = text === "" ? undefined : text;
    else if (name === "fldinst") {
      const url = /^HYPERLINK\s+(?:\\[a-z]\s+)*"([^"]+)"/i.exec(text)?.[1] ?? "";
      if (link !== undefined && /^[a-z][a-z\d+.-]*:/i.test(url)) link.url = url;
    } else if (name === "atnauthor") this.#author = text;
    else if (text === "") return;
    else if (name === "footnote") {
      const mark = String(++this.#notes);
      this.#write(`[${mark}]`);
      this.blocks.addOther(annotation(`footnote ${mark}`, { text, kind: "footnote", mark }));
    } else if (name === "annotation") {
      const author = this.#author;
      const said = author === "" ? {} : { author };
      this.blocks.addOther(annotation(author === "" ? "Comment" : `Comment by ${author}`, { text, ...said }));
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
    this.blocks.addOther({ category: "image", content: pictureOf(bytes, { description: "", type }) });
  }

  /** Takes what a word says of a font or a style. */
  #define(name: string, value: number): void {
    const { target } = this.#group;
    if (name === (target === "fonts" ? "f" : "s")) this.#defined = value;
    const encoding = name === "fcharset" || name === "cpg"
      ? encodingOf(value, { isCharset: name === "fcharset" })
      : undefined;
    if (encoding !== undefined) this.#fonts.set(this.#defined, encoding);
    if (target === "styles" && name === "outlinelevel" && value < 9) {
      this.#headings.set(this.#defined, levelOf(value));
    }
  }

  #layout(name: string, value: number): void {
    const set = (change: ParagraphForm) => void (this.#paragraph = { ...this.#paragraph, ...change });
    switch (name) {
      case "par":
      case "\n":
      case "\r":
        this.blocks.endParagraph(this.#paragraph, this.#mark);
        return void (this.#mark = undefined);
      case "cell":
        this.blocks.endCell(this.#paragraph, this.#mark);
        return void (this.#mark = undefined);
      case "row":
        return this.blocks.endRow();
      case "page":
      case "sect":
        return this.blocks.breakPage();
      case "pard":
        return void (this.#paragraph = {});
      case "s":
        return set({ heading: this.#headings.get(value) });
      case "outlinelevel":
        return set({ heading: value < 9 ? levelOf(value) : undefined });
      case "intbl":
        return set({ isInTable: true });
      case "ilvl":
        return set({ level: value });
      case "li":
        return set({ indent: value });
    }
  }
}

function levelOf(outline: number): number {
  return Math.min(Math.max(outline, 0) + 1, 6);
}
