/** Text in pictures, read by Tesseract in WebAssembly. Nothing of it is loaded before a picture is read. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { describeError } from "../basics.ts";
import { DocumentError, type ParsedDocument, type ParseInput, type Recognize, unreadable } from "./format.ts";

/**
 * Sources fetch the packages when they are first used; a package of npm has them beside it. Deno fetches what an import
 * names in full before the program starts, so these end in variables: only those who ask for OCR get the packages.
 */
const isSource = import.meta.url.endsWith(".ts");
const ENGINE = "tesseract-core-simd-lstm";
const modelOf = (language: string) => isSource ? `${language}@1.0.0` : language;

/** The names of the models that can be given: `eng`, or several such as `deu+chi_sim`. */
export const OCR_LANGUAGES = /^[a-z]{3}(?:_[a-z]{2,9}){0,2}(?:\+[a-z]{3}(?:_[a-z]{2,9}){0,2}){0,4}$/;

/** Fetches what reading text in these languages needs, where it is not there yet. Throws a TypeError when it cannot. */
export async function fetchOcr(languages: string): Promise<void> {
  if (!OCR_LANGUAGES.test(languages)) {
    throw new TypeError(`Cannot read text in pictures: no models are named "${languages}"; eng is one`);
  }
  const manifest = "package.json";
  await need("tesseract.js-core", import(`tesseract.js-core/${manifest}`, { with: { type: "json" } }));
  for (const language of languages.split("+")) {
    const model = import(`@tesseract.js-data/${modelOf(language)}/${manifest}`, { with: { type: "json" } });
    await need(`@tesseract.js-data/${language}`, model);
  }
}

async function need(name: string, importing: Promise<unknown>): Promise<void> {
  try {
    await importing;
  } catch (cause) {
    const remedy = isSource ? "" : `; run "npm install ${name}"`;
    throw new TypeError(`Cannot read text in pictures: package "${name}" is missing${remedy}`, { cause });
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
    try {
      const { core, api } = await (loading ??= load(languages));
      core.FS.writeFile("/input", picture);
      // The number that would turn the picture by what a camera noted: as it is.
      if (api.SetImageFile(1) !== 0) throw unreadable("unsupported", "OCR does not know its format");
      if (api.Recognize(null) !== 0) throw unreadable("unsupported", "OCR gives it up");
      return api.GetUTF8Text();
    } catch (error) {
      if (error instanceof DocumentError) throw error;
      // What has broken would fail for all pictures that follow.
      loading = undefined;
      throw unreadable("damaged", describeError(error), { cause: error });
    }
  };
}

async function load(languages: string) {
  const [{ default: start }, { default: wasmBinary }] = await Promise.all([
    import(`tesseract.js-core/${ENGINE}.js`),
    import(`tesseract.js-core/${ENGINE}.wasm`, { with: { type: "bytes" } }),
  ]);
  const silent = () => {};
  const core: Tesseract = await start({
    wasmBinary,
    print: silent,
    printErr: silent,
    TesseractProgress: silent,
  });
  for (const language of languages.split("+")) {
    const { default: packed } = await import(
      `@tesseract.js-data/${modelOf(language)}/4.0.0_best_int/${language}.traineddata.gz`,
      { with: { type: "bytes" } }
    );
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
      return [notRead(error instanceof DocumentError ? error.reason : describeError(error))];
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
      const isTold = page.elements.some(({ metadata }) => metadata?.["is_notice"] === true);
      const found = options?.isTextOnly !== true
        ? await elementsOf(index)
        : isTold
        ? []
        : [notRead("reading it exceeds the limits")];
      return found.length === 0 ? page : { ...page, elements: [...page.elements.map(withHint), ...found] };
    },
  };
}

function notRead(reason: string): DocumentElement {
  const text = `Text in this picture is not read: ${reason}`;
  return { category: "annotation", summary: text, content: { text }, metadata: { is_notice: true } };
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
