/** The numbers of paragraphs, which Word computes when it shows a document. */
import type { ListMark } from "../list_builder.ts";
import { formatOrdinal } from "../number_formats.ts";
import { isOn } from "../ooxml.ts";
import { at, childrenOf, type XmlNode } from "../xml.ts";
import { indentOf, type Styles } from "./styles.ts";

/** How far a level of a list is indented by default, in twentieths of a point. */
const INDENT = 720;
const LEVELS = 9;
const MAX_LABEL = 200;

type Level = ReturnType<typeof readLevel>;

interface List {
  readonly levels: readonly (Level | undefined)[];
  /** The number of each level so far. Lists of the same kind go on counting. */
  readonly counters: (number | undefined)[];
  readonly begun: Set<number>;
}

/** The lists of a document, and how far each is counted. */
export class Numbering {
  readonly #nums: ReadonlyMap<string, XmlNode>;
  readonly #kinds: ReadonlyMap<string, XmlNode>;
  readonly #styles: Styles;
  readonly #lists = new Map<string, List | undefined>();
  readonly #counters = new Map<XmlNode, (number | undefined)[]>();

  constructor(part: XmlNode | undefined, styles: Styles) {
    const byId = (name: string, id: string) =>
      new Map(childrenOf(at(part, "numbering"), name).map((node) => [node.attributes[id] ?? "", node]));
    this.#kinds = byId("abstractNum", "abstractNumId");
    this.#nums = byId("num", "numId");
    this.#styles = styles;
  }

  /**
   * How the next paragraph with these properties is marked; `undefined` when it is in no list. Each paragraph of a document
   * is asked for once, in their order.
   */
  next(properties: XmlNode | undefined, style: string): ListMark | undefined {
    const bases = this.#styles.bases(style);
    const own = at(properties, "numPr");
    const all = [own, ...bases.map((base) => at(base, "pPr", "numPr"))];
    const [id = "0"] = all.flatMap((numbers) => at(numbers, "numId")?.attributes["val"] ?? []);
    if (!this.#lists.has(id)) this.#lists.set(id, this.#readList(id));
    const list = this.#lists.get(id);
    if (list === undefined) return undefined;
    const [ofStyle = -1] = bases.map(({ attributes: { styleId } }) =>
      list.levels.findIndex((level) => level?.style !== undefined && level.style === styleId)
    ).filter((index) => index >= 0);
    const [ilvl] = (own === undefined ? all : [own]).flatMap((numbers) =>
      at(numbers, "ilvl")?.attributes["val"] ?? []
    );
    const index = own === undefined && ofStyle >= 0 ? ofStyle : Number(ilvl ?? 0);
    const level = list.levels[index];
    if (level === undefined) return undefined;
    count(list, index);
    // Styles such as "List Bullet 2" are lists of their own, which only their indentation puts below another one.
    const indents = [indentOf(properties), level.indent, this.#styles.indentOf(style)];
    if (own === undefined) indents.splice(1, 0, indents.pop());
    return {
      level: indents.find((indent) => indent !== undefined) ?? (index + 1) * INDENT,
      label: labelOf(list, level),
    };
  }

  #readList(id: string): List | undefined {
    const kindOf = (id = "") =>
      this.#kinds.get(at(this.#nums.get(id), "abstractNumId")?.attributes["val"] ?? "");
    const named = kindOf(id);
    // Some lists only name the style of another one.
    const [link] = this.#styles.bases(at(named, "numStyleLink")?.attributes["val"] ?? "");
    const kind = kindOf(at(link, "pPr", "numPr", "numId")?.attributes["val"]) ?? named;
    if (kind === undefined) return undefined;
    const counters = this.#counters.get(kind) ?? [];
    this.#counters.set(kind, counters);
    const byLevel = (parent: XmlNode | undefined, name: string) =>
      new Map(childrenOf(parent, name).map((node) => [Number(node.attributes["ilvl"]), node]));
    const overrides = byLevel(this.#nums.get(id), "lvlOverride");
    const ofKind = byLevel(kind, "lvl");
    const levels = Array.from({ length: LEVELS }, (_, index) => {
      const node = at(overrides.get(index), "lvl") ?? ofKind.get(index);
      return node &&
        readLevel(node, { index, start: at(overrides.get(index), "startOverride")?.attributes["val"] });
    });
    return { levels, counters, begun: new Set() };
  }
}

/** @param start the number that the list begins the level with, where it has one of its own */
function readLevel(
  node: XmlNode,
  { index, start }: { readonly index: number; readonly start: string | undefined },
) {
  const value = (name: string) => at(node, name)?.attributes["val"];
  const [first = ""] = at(node, "numFmt")?.attributes["format"]?.split(",") ?? [];
  return {
    format: value("numFmt") ?? "decimal",
    // Formats such as `001, 002, 003, ...` say how many digits a number has.
    digits: Math.min(first.length, 20),
    text: value("lvlText") ?? `%${index + 1}.`,
    start: Number(start ?? value("start") ?? 1),
    isRestarted: start !== undefined,
    /** The level, from 1, after which it begins again. */
    restart: Number(value("lvlRestart") ?? index),
    isLegal: isOn(at(node, "isLgl")),
    indent: indentOf(at(node, "pPr")),
    /** The style whose paragraphs it numbers. */
    style: value("pStyle"),
  };
}

function count({ levels, counters, begun }: List, index: number): void {
  const { start = 1, isRestarted = false } = levels[index] ?? {};
  const before = isRestarted && !begun.has(index) ? undefined : counters[index];
  begun.add(index);
  counters[index] = before === undefined ? start : before + 1;
  for (let below = index + 1; below < LEVELS; below++) {
    if (index < (levels[below]?.restart ?? below)) counters[below] = undefined;
  }
}

/** The number of a paragraph as it is shown; `undefined` for bullets, and where none is shown. */
function labelOf({ levels, counters }: List, { format, text, isLegal }: Level): string | undefined {
  // Some bullets are words, such as "Note:".
  if (format === "bullet") return /\p{L}{2}/u.test(text) ? text.slice(0, MAX_LABEL) : undefined;
  const label = text.replace(/%([1-9])/g, (_, digit: string) => {
    const { format = "decimal", start = 1, digits = 0 } = levels[Number(digit) - 1] ?? {};
    const number = counters[Number(digit) - 1] ?? start;
    return formatOrdinal(number, isLegal && format !== "decimalZero" ? "decimal" : format).padStart(
      format === "custom" ? digits : 0,
      "0",
    );
  }).trim().slice(0, MAX_LABEL);
  return label === "" ? undefined : label;
}
