/** Pictures: their size, what the camera noted, and the picture itself when it is small. */
import exifr from "exifr";
import type { TableCell } from "@a2c-smcp/sdk";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { aboutFile } from "./about.ts";
import { type ParsedDocument, type ParseInput, unreadable } from "./format.ts";
import { pictureOf, pictureSizeOf } from "./picture.ts";
import { documentOf, tableOf } from "./sections.ts";
import { descendantsOf, parseXml, textOf, type XmlNode } from "./xml.ts";

/** The notes of a camera that are shown, and their labels. */
const NOTES: Readonly<Record<string, string>> = {
  ImageDescription: "Description",
  DateTimeOriginal: "Taken",
  Make: "Make",
  Model: "Model",
  Orientation: "Orientation",
  latitude: "Latitude",
  longitude: "Longitude",
  Artist: "Artist",
  Copyright: "Copyright",
};

export async function open({ bytes, fileName, limits }: ParseInput): Promise<ParsedDocument> {
  const size = pictureSizeOf(bytes);
  if (size === undefined) throw unreadable("damaged", "the file is damaged, or no picture of this format");
  const { width, height, type } = size;
  const notes = await notesOf(bytes);
  const texts = type === "svg" ? svgTexts(bytes, limits.maxDepth) : [];
  const description = String(notes.get("Description") ?? texts[0] ?? fileName);
  const image: DocumentElement = { category: "image", content: pictureOf(bytes, { description, type }) };
  const elements = [
    image,
    ...(notes.size === 0 ? [] : [tableOf([["note", "value"], ...notes], 1)]),
    ...texts.map(toText),
  ];
  const document = documentOf([{ title: fileName, elements }], {
    elements,
    title: notes.has("Description") ? description : undefined,
    headings: ["Make", "Model"].flatMap((note) => notes.has(note) ? String(notes.get(note)) : []),
    about: aboutFile({
      author: notes.get("Artist"),
      created: notes.get("Taken"),
      description: notes.get("Description"),
    }),
    opening: [`Picture of ${width} × ${height} pixels`, ...texts].join(". "),
    losses: [],
  });
  return { ...document, scans: () => Promise.resolve(type === "svg" ? [] : [bytes]) };
}

/** What the camera noted, by the labels of {@linkcode NOTES}; nothing when there are no notes, or none that can be read. */
async function notesOf(bytes: Uint8Array): Promise<Map<string, TableCell>> {
  const notes = new Map<string, TableCell>();
  const read: unknown = await exifr.parse(bytes, { gps: true, translateValues: true }).catch(() => undefined);
  if (typeof read !== "object" || read === null) return notes;
  for (const [name, label] of Object.entries(NOTES)) {
    const value: unknown = Reflect.get(read, name);
    if (value instanceof Date) notes.set(label, Number.isNaN(value.getTime()) ? null : value.toISOString());
    else if (typeof value === "string" && value.trim() !== "") notes.set(label, value.trim());
    else if (typeof value === "number") notes.set(label, value);
  }
  return notes;
}

/** The title, the description and the texts of a drawing. */
function svgTexts(bytes: Uint8Array, maxDepth: number): string[] {
  const root: XmlNode = parseXml(new TextDecoder().decode(bytes), { maxDepth });
  return ["title", "desc", "text"].flatMap((name) => [...descendantsOf(root, name)])
    .map((node) => textOf(node).replace(/\s+/g, " ").trim()).filter((text) => text !== "");
}

function toText(text: string): DocumentElement {
  return { category: "text", content: { text } };
}
