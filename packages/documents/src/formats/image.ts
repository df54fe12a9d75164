/** Pictures: their size, what the camera noted, and the picture itself when it is small. */
import exifr from "exifr";
import type { TableCell } from "@a2c-smcp/sdk";
import type { DocumentElement, DocumentPage } from "@a2c-smcp/sdk/provider";
import { aboutFile } from "./about.ts";
import { type ParsedDocument, type ParseInput, unreadable } from "./format.ts";
import { pictureOf, pictureSizeOf } from "./picture.ts";
import { documentOf, tableOf, textElement } from "./sections.ts";
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

/** The most pictures of a TIFF file that are pages. */
const MAX_FRAMES = 5_000;
const KIND_OF_FRAME = 254;

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
    ...texts.map(textElement),
  ];
  const frames = type === "tiff" ? framesOf(bytes) : [];
  const others = frames.slice(1).map((_, at): DocumentPage => {
    const description = `Picture ${at + 2} of ${frames.length}`;
    return { title: description, elements: [{ category: "image", content: { description } }] };
  });
  const document = documentOf([{ title: fileName, elements }, ...others], {
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
  return {
    ...document,
    scans: (index) =>
      Promise.resolve(type === "svg" ? [] : [index === 0 ? bytes : beginningAt(bytes, frames[index] ?? 0)]),
  };
}

/** Where the pictures of a TIFF file begin, such as the pages of a fax, without smaller copies of them. */
function framesOf(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isLittle = bytes[0] === 0x49;
  const short = (at: number) => at + 2 <= bytes.length ? view.getUint16(at, isLittle) : 0;
  const long = (at: number) => at + 4 <= bytes.length ? view.getUint32(at, isLittle) : 0;
  const seen = new Set<number>();
  for (let at = long(4); short(at) > 0 && !seen.has(at) && seen.size < MAX_FRAMES;) {
    seen.add(at);
    at = long(at + 2 + short(at) * 12);
  }
  // The entries of each are sorted by their tags: the first one tells a copy by its lowest bit.
  return [...seen].filter((at, index) =>
    index === 0 || short(at + 2) !== KIND_OF_FRAME || (long(at + 10) & 1) === 0
  );
}

/** A TIFF file that begins with another one of its pictures. */
function beginningAt(bytes: Uint8Array<ArrayBuffer>, frame: number): Uint8Array<ArrayBuffer> {
  const file = bytes.slice();
  new DataView(file.buffer).setUint32(4, frame, file[0] === 0x49);
  return file;
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
