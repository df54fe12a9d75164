/** Texts of DrawingML: those of slides, of diagrams, of charts and of boxes on sheets. */
import { mathText } from "./math.ts";
import { joinText, type TextForm } from "./raised_text.ts";
import { symbolText } from "./symbol_fonts.ts";
import { at, childrenOf, textOf, type XmlNode } from "./xml.ts";

/** The text of each paragraph, without empty ones. */
export function linesOf(body: XmlNode | undefined): string[] {
  return childrenOf(body, "p").map(paragraphText).filter((text) => text !== "");
}

export function paragraphText(paragraph: XmlNode): string {
  return joinText(childrenOf(paragraph).map(pieceOf)).trim();
}

function pieceOf(run: XmlNode): TextForm & { readonly text: string } {
  if (run.name === "br") return { text: "\n" };
  if (run.name === "m") return { text: ` ${childrenOf(run).map(mathText).join("").trim()} ` };
  const properties = at(run, "rPr");
  const { baseline = "0", strike = "noStrike" } = properties?.attributes ?? {};
  const offset = Number.parseFloat(baseline);
  const font = (name: string) => at(properties, name)?.attributes["typeface"];
  const text = symbolText(textOf(at(run, "t")), font("latin"));
  return {
    text: symbolText(text, font("sym"), { hasLetters: false }),
    position: offset > 0 ? "raised" : offset < 0 ? "lowered" : undefined,
    isStruck: strike !== "noStrike",
  };
}
