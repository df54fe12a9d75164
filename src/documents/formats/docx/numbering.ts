/** The numbers of paragraphs, which Word computes when it shows a document. */
import type { ListMark } from "../list_builder.ts";
import { formatOrdinal } from "../number_formats.ts";
import { at, childrenOf, type XmlNode } from "../xml.ts";
import { indentOf, isOn, type Styles } from "./styles.ts";

/** How far a level of a list is indented by default, in twentieths of a point. */
const INDENT = 720;
const LEVELS = 9;

/** The lists of a document, and how far each is counted. */
export class Numbering {
  readonly #lists: ReadonlyMap<string, XmlNode>;
  readonly #kinds: ReadonlyMap<string, XmlNode>;
  readonly #styles: Styles;
  readonly #levels = new Map<string, readonly (XmlNode | undefined)[]>();
  /** The number of each level so far. Lists of the same kind go on counting. */
  readonly #counters = new Map<XmlNode, (number | undefined)[]>();
  /** The levels of lists that have begun with a number of their own. */
  readonly #begun = new Set<string>();

  constructor(part: XmlNode | undefined, styles: Styles) {
    const numbering = at(part, "numbering");
    const byId = (name: string, id: string) =>
      new Map(childrenOf(numbering, name).map((node) => [node.attributes[id] ?? "", node]));
    this.#kinds = byId("abstractNum", "abstractNumId");
    this.#lists = byId("num", "numId");
    this.#styles = styles;
  }

  /**
   * How the next paragraph with these properties is marked; `undefined` when it is in no list. Each paragraph of a document
   * is asked for once, in their order.
   */
  next(properties: XmlNode | undefined, style: string): ListMark | undefined {
    const bases = this.#styles.bases(style);
    const fromStyles = bases.flatMap((base) => at(base, "pPr", "numPr") ?? []);
    const value = (name: string, from: readonly (XmlNode | undefined)[]) =>
      from.map((numbers) => at(numbers, name)?.attributes["val"]).find((found) => found !== undefined);
    const own = at(properties, "numPr");
    const id = value("numId", [own, ...fromStyles]);
    const kind = id === undefined || id === "0" ? undefined : this.#kindOf(id);
    if (id === undefined || kind === undefined) return undefined;
    // A level may name the style whose paragraphs it numbers.
    const ofStyle = bases.map((base) =>
      childrenOf(kind, "lvl").find((level) =>
        at(level, "pStyle")?.attributes["val"] === base.attributes["styleId"]
      )
    ).find((found) => found !== undefined);
    const level = Number(
      value("ilvl", [own]) ?? (own !== undefined && value("numId", [own]) !== undefined ? "0" : undefined) ??
        ofStyle?.attributes["ilvl"] ?? value("ilvl", fromStyles) ?? 0,
    );
    const levels = this.#levelsOf(id, kind);
    const definition = levels[level];
    if (definition === undefined) return undefined;
    const numbers = this.#count({ id, kind, level, levels });
    // Styles such as "List Bullet 2" are lists of their own, which only their indentation puts below another one.
    const indents = [indentOf(properties), indentOf(at(definition, "pPr")), this.#styles.indentOf(style)];
    if (own === undefined) indents.splice(1, 0, indents.pop());
    return {
      level: indents.find((indent) => indent !== undefined) ?? (level + 1) * INDENT,
      label: labelOf({ level, levels, numbers }),
    };
  }

  #count({ id, kind, level, levels }: {
    readonly id: string;
    readonly kind: XmlNode;
    readonly level: number;
    readonly levels: readonly (XmlNode | undefined)[];
  }): number[] {
    const counters = this.#counters.get(kind) ?? [];
    this.#counters.set(kind, counters);
    const startOf = (index: number) =>
      Number(
        at(this.#override(id, index), "startOverride")?.attributes["val"] ??
          at(levels[index], "start")?.attributes["val"] ?? 1,
      );
    const begins = at(this.#override(id, level), "startOverride") !== undefined &&
      !this.#begun.has(`${id} ${level}`);
    this.#begun.add(`${id} ${level}`);
    const before = begins ? undefined : counters[level];
    counters[level] = before === undefined ? startOf(level) : before + 1;
    for (let below = level + 1; below < LEVELS; below++) {
      const restart = Number(at(levels[below], "lvlRestart")?.attributes["val"] ?? below);
      if (level < restart) counters[below] = undefined;
    }
    return Array.from({ length: LEVELS }, (_, index) => counters[index] ?? startOf(index));
  }

  #override(id: string, index: number): XmlNode | undefined {
    return childrenOf(this.#lists.get(id), "lvlOverride").find(({ attributes }) =>
      Number(attributes["ilvl"]) === index
    );
  }

  #levelsOf(id: string, kind: XmlNode): readonly (XmlNode | undefined)[] {
    const levels = this.#levels.get(id) ??
      Array.from({ length: LEVELS }, (_, index) =>
        at(this.#override(id, index), "lvl") ??
          childrenOf(kind, "lvl").find(({ attributes }) => Number(attributes["ilvl"]) === index));
    this.#levels.set(id, levels);
    return levels;
  }

  /** What a list looks like; some only name the style of another list. */
  #kindOf(id: string): XmlNode | undefined {
    const kind = this.#kinds.get(at(this.#lists.get(id), "abstractNumId")?.attributes["val"] ?? "");
    const [link] = this.#styles.bases(at(kind, "numStyleLink")?.attributes["val"] ?? "");
    const linked = at(
      this.#lists.get(at(link, "pPr", "numPr", "numId")?.attributes["val"] ?? ""),
      "abstractNumId",
    );
    return this.#kinds.get(linked?.attributes["val"] ?? "") ?? kind;
  }
}

/** The number of a paragraph as it is shown; `undefined` for bullets, and where none is shown. */
function labelOf({ level, levels, numbers }: {
  readonly level: number;
  readonly levels: readonly (XmlNode | undefined)[];
  readonly numbers: readonly number[];
}): string | undefined {
  const definition = levels[level];
  const text = at(definition, "lvlText")?.attributes["val"] ?? `%${level + 1}.`;
  // Some bullets are words, such as "Note:".
  if (formatOf(definition) === "bullet") return /\p{L}{2}/u.test(text) ? text : undefined;
  const isLegal = isOn(at(definition, "isLgl"));
  const label = text.replace(/%([1-9])/g, (_, digit: string) => {
    const index = Number(digit) - 1;
    return numberText(numbers[index] ?? 1, isLegal ? undefined : levels[index]);
  }).trim();
  return label === "" ? undefined : label;
}

function formatOf(level: XmlNode | undefined): string {
  return at(level, "numFmt")?.attributes["val"] ?? "decimal";
}

function numberText(number: number, level: XmlNode | undefined): string {
  // Formats such as "001, 002, 003, ..." say how many digits a number has.
  const [first = ""] = (at(level, "numFmt")?.attributes["format"] ?? "").split(",");
  return formatOf(level) === "custom"
    ? String(number).padStart(first.length, "0")
    : formatOrdinal(number, formatOf(level));
}
