/** Formulas of MathML, read as those of Office Math are. */
import { attribute, type Element, elementsBelow } from "./dom.ts";
import { mathText } from "../math.ts";
import type { XmlNode } from "../xml.ts";

/** The element of Office Math for one of MathML, and the names of its parts in order. */
const PARTS: Readonly<Record<string, readonly [name: string, ...parts: readonly string[]]>> = {
  mfrac: ["f", "num", "den"],
  msup: ["sSup", "e", "sup"],
  msub: ["sSub", "e", "sub"],
  msubsup: ["sSubSup", "e", "sub", "sup"],
  munderover: ["sSubSup", "e", "sub", "sup"],
  munder: ["limLow", "e", "lim"],
  mover: ["limUpp", "e", "lim"],
  mroot: ["rad", "e", "deg"],
  mtable: ["m"],
  mtr: ["mr"],
  mlabeledtr: ["mr"],
};

/** The text of a formula in one line: `x^(2)+(1)/(2)+√(9)`. */
export function mathmlText(math: Element, maxDepth: number): string {
  return mathText(toOfficeMath(math, maxDepth)).replace(/\s+/g, " ").replace(/ (?=[_^),])/g, "");
}

function toOfficeMath(element: Element, maxDepth: number): XmlNode {
  const { tagName } = element;
  // Other forms of the same formula, and what only takes up space.
  if (/^annotation|^mphantom$/.test(tagName) || maxDepth < 0) return part("del", []);
  if (tagName === "mspace") return part("t", [" "]);
  const below = () => elementsBelow(element).map((child) => toOfficeMath(child, maxDepth - 1));
  if (tagName === "mfenced") {
    const signs = [["begChr", "open"], ["endChr", "close"], ["sepChr", "separators"]] as const;
    const properties = signs.flatMap(([name, of]) => {
      const val = attribute(element, of);
      return val === undefined ? [] : [{ name, attributes: { val }, children: [] }];
    });
    return part("d", [part("dPr", properties), ...below().map((child) => part("e", [child]))]);
  }
  const [name, ...names] = PARTS[tagName] ?? [];
  if (name !== undefined) {
    const parts = below();
    return part(
      name,
      names.length === 0 ? parts : names.map((each, at) => part(each, parts.slice(at, at + 1))),
    );
  }
  const children = element.childNodes.flatMap((child): XmlNode[] => {
    if ("tagName" in child) return [toOfficeMath(child, maxDepth - 1)];
    if (!("value" in child)) return [];
    // Signs that are not seen, such as that of a function.
    const text = child.value.replace(/[\u2061-\u2064]/g, "").replace(/\s+/g, tagName === "mtext" ? " " : "");
    // A name of several letters, such as that of a function, is a word.
    return [part("t", [/^m[io]$/.test(tagName) && /^[a-z]{2,}$/i.test(text) ? ` ${text} ` : text])];
  });
  return tagName === "msqrt"
    ? part("rad", [part("e", children)])
    : part(tagName === "mtd" ? "e" : "", children);
}

function part(name: string, children: XmlNode["children"]): XmlNode {
  return { name, attributes: {}, children };
}
