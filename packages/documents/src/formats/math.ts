/** Formulas of Office Math (OMML) in one line: fractions as `(a)/(b)`, powers and indices by `^` and `_`. */
import { at, childrenOf, textOf, type XmlNode } from "./xml.ts";

/** The text of a formula, or of a part of it. */
export function mathText(node: XmlNode | undefined): string {
  const part = (name: string) => mathText(at(node, name));
  const script = (sign: string, name: string) => part(name) === "" ? "" : `${sign}(${part(name)})`;
  const each = (name: string) => childrenOf(node, name).map(mathText);
  const property = (name: string) => at(node, `${node?.name}Pr`, name)?.attributes["val"];
  switch (node?.name) {
    case undefined:
    case "rPr":
    case "ctrlPr":
    case "del":
      return "";
    case "t":
      return textOf(node);
    case "f":
      return property("type") === "noBar"
        ? `binom(${part("num")}, ${part("den")})`
        : `(${part("num")})/(${part("den")})`;
    case "sSup":
      return `${part("e")}^(${part("sup")})`;
    case "sSub":
      return `${part("e")}_(${part("sub")})`;
    case "sSubSup":
      return `${part("e")}_(${part("sub")})^(${part("sup")})`;
    case "sPre":
      return `${script("_", "sub")}${script("^", "sup")}${part("e")}`;
    case "limLow":
      return `${part("e")}_(${part("lim")})`;
    case "limUpp":
      return `${part("e")}^(${part("lim")})`;
    case "rad":
      return part("deg") === "" ? `√(${part("e")})` : `root(${part("deg")}, ${part("e")})`;
    case "nary":
      return `${property("chr") ?? "∫"}${script("_", "sub")}${script("^", "sup")} ${part("e")}`;
    case "acc":
      return part("e") + (property("chr") ?? "\u0302");
    case "bar":
      return `${part("e")}${property("pos") === "bot" ? "\u0332" : "\u0305"}`;
    case "func":
      return `${part("fName")}${childrenOf(at(node, "e"))[0]?.name === "d" ? "" : " "}${part("e")}`;
    case "d":
      return (property("begChr") ?? "(") + each("e").join(property("sepChr") ?? ", ") +
        (property("endChr") ?? ")");
    case "m":
      return `[${each("mr").join("; ")}]`;
    case "mr":
      return each("e").join(", ");
    case "eqArr":
      return each("e").join("; ");
    default:
      return childrenOf(node).map(mathText).join("");
  }
}
