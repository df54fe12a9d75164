/** The numbers of paragraphs on slides, which PowerPoint computes when it shows them. */
import { formatOrdinal } from "../number_formats.ts";
import { at, type XmlNode } from "../xml.ts";

/** The names of formats in DrawingML (ECMA-376, 20.1.10.61), by how they begin. */
const FORMATS: readonly (readonly [prefix: string, format: string])[] = [
  ...[["alphaLc", "lowerLetter"], ["alphaUc", "upperLetter"], ["romanLc", "lowerRoman"]] as const,
  ...[["romanUc", "upperRoman"], ["circleNum", "decimalEnclosedCircle"], ["ea1", "chineseCounting"]] as const,
  ...[["thaiAlpha", "thaiLetters"], ["hebrew", "hebrew2"], ["arabic1Minus", "arabicAlpha"]] as const,
  ["arabicDb", "decimalFullWidth"],
];

/** Counts the paragraphs of a shape. */
export class SlideNumbers {
  #counters: { readonly scheme: string; number: number }[] = [];

  /**
   * How the next paragraph with these properties is marked, in a shape with these styles. Whether it has a number or a
   * bullet is `undefined` where the slide does not say.
   */
  next(properties: XmlNode | undefined, styles: XmlNode | undefined) {
    const level = Math.min(Number(properties?.attributes["lvl"] ?? 0) || 0, 8);
    const has = (name: string) => at(properties, name) !== undefined;
    const own = ["buNone", "buChar", "buBlip", "buAutoNum"].some(has)
      ? properties
      : at(styles, `lvl${level + 1}pPr`);
    const numbered = at(own, "buAutoNum");
    this.#counters = this.#counters.slice(0, level + 1);
    if (numbered === undefined) {
      delete this.#counters[level];
      const isBullet = (at(own, "buChar") ?? at(own, "buBlip")) !== undefined;
      return {
        level,
        label: undefined,
        bullet: at(own, "buNone") !== undefined ? false : isBullet || undefined,
      };
    }
    const { type = "arabicPeriod", startAt = "1" } = numbered.attributes;
    const before = this.#counters[level];
    const scheme = `${type} ${startAt}`;
    const number = before?.scheme === scheme ? before.number + 1 : Number(startAt) || 1;
    this.#counters[level] = { scheme, number };
    return { level, label: labelOf(number, type), bullet: true };
  }
}

function labelOf(number: number, type: string): string {
  const text = formatOrdinal(number, FORMATS.find(([prefix]) => type.startsWith(prefix))?.[1] ?? "decimal");
  if (type.endsWith("ParenBoth")) return `(${text})`;
  if (type.endsWith("ParenR")) return `${text})`;
  return type.endsWith("Plain") ? text : type.endsWith("Minus") ? `${text}-` : `${text}.`;
}
