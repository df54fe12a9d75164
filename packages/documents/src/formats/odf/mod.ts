/** Texts, presentations and drawings of OpenDocument. */
import type { DocumentElement, DocumentPage } from "@a2c-smcp/sdk/provider";
import { type ParsedDocument, type ParseInput, type ParseLimits, unreadable } from "../format.ts";
import { annotation, divide, documentOf, headingsOf, sectionLevel } from "../sections.ts";
import { at, childrenOf, textOf, type XmlNode } from "../xml.ts";
import { OdfFile } from "./package.ts";
import { OdfWriter } from "./writer.ts";

/** Opens a text: its pages are sections, and what is between page breaks. Others have a page for each slide. */
export function open({ bytes, fileName, limits }: ParseInput): ParsedDocument {
  const file = new OdfFile(bytes, limits);
  const { title, keywords, about } = file.about;
  const text = file.body("text");
  const slides = file.body("presentation") ?? file.body("drawing");
  const root = text ?? slides;
  if (root === undefined) {
    throw unreadable("damaged", "the file is damaged, or no text, presentation or drawing");
  }
  const writer = new OdfWriter(file, limits, root);
  const pages = text === undefined
    ? childrenOf(root, "page").map((slide, index) => readSlide(slide, { index, file, writer, limits }))
    : readText(text, { file, writer, limits, title: title ?? fileName });
  const elements = pages.flatMap((page) => page.elements);
  return documentOf(pages.length === 0 ? [{ title: title ?? fileName, elements: [] }] : pages, {
    elements,
    title: title ?? headingsOf(elements, 1)[0],
    subject: about.description,
    keywords,
    about,
    losses: writer.unread.losses,
  });
}

interface Reading {
  readonly file: OdfFile;
  readonly writer: OdfWriter;
  readonly limits: ParseLimits;
}

function readText(
  text: XmlNode,
  { file, writer, limits, title }: Reading & { readonly title: string },
): DocumentPage[] {
  const segments = writer.placed.read(writer.blocks(text), limits);
  const level = sectionLevel(segments.flat());
  const [first = { title, elements: [] }, ...others] = segments.flatMap((elements) =>
    divide(elements, { title, level })
  );
  const masters = childrenOf(at(file.shared, "master-styles"), "master-page");
  const margins = (category: "header" | "footer"): DocumentElement[] => {
    const nodes = masters.flatMap((master) =>
      ["", "-left", "-first"].map((end) => at(master, category + end))
    );
    const texts = new Set(nodes.map((node) => childrenOf(node).map(textOf).join("\n").trim()));
    // A number of a page alone says nothing.
    return [...texts].filter((text) => /\p{L}/u.test(text)).map((text) => ({ category, content: { text } }));
  };
  return [{ ...first, elements: [...margins("header"), ...first.elements, ...margins("footer")] }, ...others];
}

function readSlide(
  slide: XmlNode,
  { index, file, writer, limits }: Reading & { readonly index: number },
): DocumentPage {
  const read = (html: string) => writer.placed.read(html, limits).flat();
  const wordsOf = (html: string) =>
    read(html).flatMap(({ category, content }) => category === "text" ? [content.text] : []).join("\n");
  const html = childrenOf(slide).map((shape): string => {
    const { class: kind = "" } = shape.attributes;
    if (shape.name === "notes") {
      const notes = childrenOf(shape, "frame").filter(({ attributes }) => attributes["class"] === "notes");
      const text = wordsOf(notes.map((frame) => writer.shape(frame)).join(""));
      return text === ""
        ? ""
        : writer.placed.place(annotation("Notes of the speaker", { text, kind: "notes" }));
    }
    // What each slide has, and what moves.
    if (
      /^(?:date-time|footer|header|page-number)$/.test(kind) || /^(?:animations|par|forms)$/.test(shape.name)
    ) return "";
    const inner = writer.shape(shape);
    if (!/^(?:sub)?title$/.test(kind)) return inner;
    const level = kind === "title" ? 1 : 2;
    return `<h${level}>${inner.replaceAll("</p><p>", " ")}</h${level}>`;
  });
  const elements = read(html.join(""));
  const { name = `Slide ${index + 1}`, "style-name": style = "" } = slide.attributes;
  const isHidden = file.property(style, "drawing-page-properties", "visibility") === "hidden";
  const title = headingsOf(elements, 1)[0] ?? name;
  return { title: isHidden ? `${title} (hidden)` : title, elements };
}
