/** Text in pictures, read by Tesseract in WebAssembly. Nothing of it is loaded before a picture is read. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { describeError } from "../basics.ts";
import type { ParsedDocument, ParseInput, Recognize } from "./format.ts";

/**
 * Sources name the packages for Deno, which fetches them when they are first used; a package of npm has them beside it. No
 * import of them is found by looking at the code, so that they are fetched only for those who ask for OCR.
 */
const isSource = import.meta.url.endsWith(".ts");
const CORE = isSource ? "npm:tesseract.js-core@7.0.0" : "tesseract.js-core";
const MODULE = `${CORE}/tesseract-core-simd-lstm`;
const modelOf = (language: string) =>
  isSource ? `npm:@tesseract.js-data/${language}@1.0.0` : `@tesseract.js-data/${language}`;

/** The names of the models that can be given: `eng`, or several such as `deu+chi_sim`. */
export const OCR_LANGUAGES = /^[a-z]{3}(?:_[a-z]{2,9}){0,2}(?:\+[a-z]{3}(?:_[a-z]{2,9}){0,2}){0,4}$/;

/** Fetches what reading text in these languages needs, where it is not there yet. Throws a TypeError when it cannot. */
export async function fetchOcr(languages: string): Promise<void> {
  if (!OCR_LANGUAGES.test(languages)) {
    throw new TypeError(`Cannot read text in pictures: no models are named "${languages}"; eng is one`);
  }
  const packages = [CORE, ...languages.split("+").map(modelOf)];
  for (const name of packages) {
    try {
      await import(`${name}/package.json`, { with: { type: "json" } });
    } catch (cause) {
      const plain = name.replace(/^npm:/, "").replace(/(.)@[\d.]+$/, "$1");
      const remedy = isSource ? "" : `; run "npm install ${plain}"`;
      throw new TypeError(`Cannot read text in pictures: package "${plain}" is missing${remedy}`, { cause });
    }
  }
}

/** The parts of Tesseract that are used. */
interface Tesseract {
  readonly FS: { writeFile(path: string, bytes: Uint8Array): void };
  readonly TessBaseAPI: new () => {
    Init(path: null, languages: string, mode: number): number;
    SetImageFile(turn: number): number;
    Recognize(monitor: null): number;
    GetUTF8Text(): string;
  };
}

/** The engine of Tesseract that the small models are for. */
const LSTM_ONLY = 1;

/** A reader of text in these languages, which loads when it is first used. */
export function recognizerOf(languages: string): Recognize {
  let loading: ReturnType<typeof load> | undefined;
  return async (picture) => {
    const { core, api } = await (loading ??= load(languages));
    core.FS.writeFile("/input", picture);
    // The number that would turn the picture by what a camera noted: as it is.
    if (api.SetImageFile(1) !== 0) throw new TypeError("OCR does not know its format");
    if (api.Recognize(null) !== 0) throw new TypeError("OCR gives it up");
    return api.GetUTF8Text();
  };
}

async function load(languages: string) {
  const [{ default: start }, { default: wasmBinary }] = await Promise.all([
    import(`${MODULE}.js`),
    import(`${MODULE}.wasm`, { with: { type: "bytes" } }),
  ]);
  const silent = () => {};
  const core: Tesseract = await start({
    wasmBinary,
    print: silent,
    printErr: silent,
    TesseractProgress: silent,
  });
  for (const language of languages.split("+")) {
    const path = `${modelOf(language)}/4.0.0_best_int/${language}.traineddata.gz`;
    const { default: packed } = await import(path, { with: { type: "bytes" } });
    const model = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    core.FS.writeFile(`${language}.traineddata`, await new Response(model).bytes());
  }
  const api = new core.TessBaseAPI();
  if (api.Init(null, languages, LSTM_ONLY) !== 0) {
    throw new TypeError(`Cannot read "${languages}": no such model`);
  }
  return { core, api };
}

/** A document whose pages have the text of their scans, too. Each page is read once, unless its text is known. */
export function withScans(
  document: ParsedDocument,
  { recognize, scanTexts = {} }: Pick<ParseInput, "recognize" | "scanTexts">,
): ParsedDocument {
  if (recognize === undefined || document.scans === undefined) return document;
  const texts = new Map(
    Object.entries(scanTexts).map(([page, text]) => [Number(page), Promise.resolve(text)]),
  );
  let fresh: Record<number, string> = {};
  const read = async (index: number) => {
    const parts: string[] = [];
    for (const scan of await document.scans?.(index) ?? []) parts.push(await recognize(scan));
    if (parts.length > 0) fresh[index] = parts.join("\n\n");
    return fresh[index] ?? "";
  };
  const elementsOf = async (index: number): Promise<DocumentElement[]> => {
    try {
      if (!texts.has(index)) texts.set(index, read(index));
      return toElements(await texts.get(index) ?? "");
    } catch (error) {
      const text = `Text in this picture is not read: ${describeError(error)}`;
      return [{ category: "annotation", summary: text, content: { text } }];
    }
  };
  return {
    ...document,
    scans: undefined,
    takeScanTexts: () => {
      const taken = fresh;
      fresh = {};
      return taken;
    },
    page: async (index, options) => {
      const page = await document.page(index, options);
      if (options?.isTextOnly) return page;
      const found = await elementsOf(index);
      return found.length === 0 ? page : { ...page, elements: [...page.elements.map(withHint), ...found] };
    },
  };
}

function withHint(element: DocumentElement): DocumentElement {
  if (element.category !== "image") return element;
  const description = element.content.description?.replace(
    ", and reading it needs OCR",
    ". Its text follows as OCR has read it, with possible errors",
  );
  return { ...element, content: { ...element.content, description } };
}

function toElements(text: string): DocumentElement[] {
  return text.split(/\n{2,}/).map((part) => part.trim()).filter((part) => part !== "")
    .map((text) => ({ category: "text", content: { text } }));
}
