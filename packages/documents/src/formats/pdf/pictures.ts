/** The pictures of a PDF page, made small enough to be sent along. */
import { encode } from "jpeg-js";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { settledWithin } from "../../basics.ts";
import { numbersOf, type PageOperators, type PdfPage } from "./operators.ts";

/** How large a picture is when it is sent along. */
interface SentSize {
  /** The most pixels of its longer side. */
  readonly side: number;
  readonly bytes: number;
}

/** Large enough to read the text of a page. */
const SCAN: SentSize = { side: 1_568, bytes: 256 * 1024 };
const FIGURE: SentSize = { side: 800, bytes: 64 * 1024 };
/** The most pictures of a page that are sent along. */
const MAX_FIGURES = 8;
/** Smaller pictures are lines, dots and icons. */
const MIN_FIGURE_SIDE = 32;
/** PDF.js never delivers a picture that it cannot decode. */
const MAX_WAIT_MS = 2_000;
const JPEG_QUALITY = 60;
/** A picture with too many bytes is made smaller by this factor, again and again. */
const SHRINK = 0.7;

/** A picture as PDF.js decodes it. */
interface PdfPicture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array | Uint8ClampedArray;
}

/** The pictures that a page draws. */
export interface PagePictures {
  /** How many there are, decoded or not. */
  readonly count: number;
  /** Those that PDF.js decodes without WebAssembly: neither JPEG 2000, JBIG2 nor the codes of faxes. */
  readonly decoded: readonly PdfPicture[];
}

/** Finds the pictures that a page draws. */
export async function picturesOf(page: PdfPage, operators: PageOperators): Promise<PagePictures> {
  const draws = numbersOf(operators, /^paint(?:Inline)?Image/);
  const drawn = operators.list.filter(([operator]) => draws.has(operator)).map(([, [picture]]) => picture);
  const names = [...new Set(drawn)];
  const pictures = await Promise.all(
    names.map((name) => typeof name === "string" ? settledWithin(arrival(page, name), MAX_WAIT_MS) : name),
  );
  return { count: drawn.length, decoded: pictures.filter(isPicture) };
}

/** The picture of a page without text, as one element; its words name what is missing. */
export function scannedPage({ count, decoded }: PagePictures, letters: number): DocumentElement {
  const text = letters === 0
    ? "This page has no text layer; it is a picture, and reading it needs OCR"
    : "This page has almost no text layer; most of it is a picture, and reading it needs OCR";
  const largest = decoded.toSorted((a, b) => b.width * b.height - a.width * a.height)[0];
  if (largest === undefined) {
    const description = `${text}. The picture has a form that cannot be sent along`;
    return { category: "image", content: { description } };
  }
  const description = count === 1 ? text : `${text}. This is the largest of its ${count} pictures`;
  return toElement(largest, description, SCAN);
}

/** The pictures that make up a page without text: the largest, and those of its width, of which it is a strip. */
export function scansOf({ decoded }: PagePictures): Uint8Array<ArrayBuffer>[] {
  const largest = decoded.toSorted((a, b) => b.width * b.height - a.width * a.height)[0];
  return decoded.filter(({ width }) => width === largest?.width).map(toPnm);
}

/** A picture as PNM, which needs no more than a head before its pixels. */
function toPnm(picture: PdfPicture): Uint8Array<ArrayBuffer> {
  const { width, height } = picture;
  const head = new TextEncoder().encode(`P6 ${width} ${height} 255\n`);
  const pnm = new Uint8Array(head.length + width * height * 3);
  pnm.set(head);
  const valueAt = valuesOf(picture);
  for (let y = 0, at = head.length; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let channel = 0; channel < 3; channel++) pnm[at++] = valueAt(x, y, channel);
    }
  }
  return pnm;
}

/** The pictures between the text of a page; small ones are left out, and many are only counted. */
export function figures({ decoded }: PagePictures): DocumentElement[] {
  const large = decoded.filter(({ width, height }) => Math.min(width, height) >= MIN_FIGURE_SIDE);
  return large.slice(0, MAX_FIGURES).map((picture, index) => {
    const description = large.length <= MAX_FIGURES || index < MAX_FIGURES - 1
      ? "A picture without a description"
      : `A picture without a description; ${
        large.length - MAX_FIGURES
      } more follow, which are not sent along`;
    return toElement(picture, description, FIGURE);
  });
}

function toElement(picture: PdfPicture, description: string, size: SentSize): DocumentElement {
  const jpeg = toJpeg(picture, size);
  return {
    category: "image",
    content: {
      description,
      mime_type: "image/jpeg",
      width: jpeg.width,
      height: jpeg.height,
      url: `data:image/jpeg;base64,${jpeg.data.toBase64()}`,
    },
  };
}

/** Resolves to a picture when PDF.js has delivered it, a moment after the operators; one that is not decoded has no data. */
function arrival(page: PdfPage, name: string): Promise<unknown> {
  const objects = name.startsWith("g_") ? page.commonObjs : page.objs;
  return new Promise((resolve) => objects.get(name, resolve));
}

function isPicture(value: unknown): value is PdfPicture {
  if (typeof value !== "object" || value === null || !("width" in value) || !("data" in value)) return false;
  const { width, height, data } = value as Partial<PdfPicture>;
  if (data === undefined || !ArrayBuffer.isView(data) || !width || !height) return false;
  return [1, 3, 4].some((channels) => data.length === width * height * channels) ||
    data.length === Math.ceil(width / 8) * height;
}

/** Makes a picture smaller until it has few enough bytes. */
function toJpeg(picture: PdfPicture, { side, bytes }: SentSize): ReturnType<typeof encode> {
  const longer = Math.max(picture.width, picture.height);
  for (let scale = Math.min(1, side / longer);; scale *= SHRINK) {
    const jpeg = encode(shrink(picture, scale), JPEG_QUALITY);
    if (jpeg.data.length <= bytes || Math.max(jpeg.width, jpeg.height) < MIN_FIGURE_SIDE) return jpeg;
  }
}

/** A smaller picture: each of its pixels is the average of those that it stands for. */
function shrink(picture: PdfPicture, scale: number): { width: number; height: number; data: Uint8Array } {
  const width = Math.max(1, Math.round(picture.width * scale));
  const height = Math.max(1, Math.round(picture.height * scale));
  const data = new Uint8Array(width * height * 4);
  const valueAt = valuesOf(picture);
  for (let y = 0, at = 0; y < height; y++) {
    const [top, bottom] = [
      Math.floor(y * picture.height / height),
      Math.ceil((y + 1) * picture.height / height),
    ];
    for (let x = 0; x < width; x++, at += 4) {
      const [left, right] = [
        Math.floor(x * picture.width / width),
        Math.ceil((x + 1) * picture.width / width),
      ];
      const count = (bottom - top) * (right - left);
      for (let channel = 0; channel < 3; channel++) {
        let sum = 0;
        for (let row = top; row < bottom; row++) {
          for (let column = left; column < right; column++) sum += valueAt(column, row, channel);
        }
        data[at + channel] = Math.round(sum / count);
      }
      data[at + 3] = 0xff;
    }
  }
  return { width, height, data };
}

/** The red, green or blue of each pixel. PDF.js gives one bit, or one, three or four bytes for each of them. */
function valuesOf({ width, height, data }: PdfPicture): (x: number, y: number, channel: number) => number {
  const channels = data.length / (width * height);
  if (channels >= 1) {
    return (x, y, channel) => data[(y * width + x) * channels + Math.min(channel, channels - 1)] ?? 0;
  }
  const rowBytes = Math.ceil(width / 8);
  return (x, y) => ((data[y * rowBytes + (x >> 3)] ?? 0) >> (7 - (x & 7)) & 1) * 0xff;
}
