/** The outline of a PDF file, and the names that it gives to pages. */
import type { OutlineSection } from "@a2c-smcp/sdk/provider";
import { shorten } from "../../basics.ts";
import type { Pdf } from "./operators.ts";

/** The most entries that are looked at, and the most whose pages are looked up: of more, those of higher levels. */
const [MAX_READ, MAX_FOUND] = [20_000, 2_000];
const MAX_LEVEL = 20;
/** The most characters of a name of a page. */
export const MAX_NAME = 120;

/** An entry as the file has it. */
interface Entry {
  readonly title: string;
  readonly level: number;
  readonly dest: unknown;
}

export interface PdfOutline {
  /** The titles of all entries, level by level. */
  readonly titles: readonly string[];
  /** Those whose pages are known, in their order. */
  readonly entries: readonly OutlineSection[];
}

export async function readOutline(pdf: Pdf): Promise<PdfOutline> {
  const read: Entry[] = [];
  collect(await pdf.getOutline().catch(() => null) ?? [], 1, read);
  const byLevel = read.toSorted((a, b) => a.level - b.level);
  const looked = new Set(byLevel.slice(0, MAX_FOUND));
  const found = await Promise.all(
    read.filter((entry) => looked.has(entry)).map(async (entry) => {
      const page = await pageOf(pdf, entry.dest).catch(() => undefined);
      return { title: entry.title, level: entry.level, page };
    }),
  );
  const entries = found.flatMap(({ title, level, page }, at): OutlineSection[] => {
    // A part without a page of its own begins where its first section does.
    const inner = found[at + 1];
    const begins = page ?? (inner !== undefined && inner.level > level ? inner.page : undefined);
    return begins === undefined ? [] : [{ title, level, page: begins }];
  });
  return { titles: byLevel.map(({ title }) => title), entries };
}

type OutlineNode = NonNullable<Awaited<ReturnType<Pdf["getOutline"]>>>[number];

function collect(nodes: readonly OutlineNode[], level: number, found: Entry[]): void {
  for (const { title, dest, items } of nodes) {
    if (found.length >= MAX_READ) return;
    const text = title.replace(/\s+/g, " ").trim();
    if (text !== "") found.push({ title: text, level, dest });
    if (level < MAX_LEVEL) collect(items, level + 1, found);
  }
}

/** The page of a destination, which may have a name. */
async function pageOf(pdf: Pdf, dest: unknown): Promise<number | undefined> {
  const explicit: unknown = typeof dest === "string" ? await pdf.getDestination(dest) : dest;
  const target: unknown = Array.isArray(explicit) ? explicit[0] : undefined;
  const page = typeof target === "object" && target !== null
    ? await pdf.getPageIndex(target as Parameters<Pdf["getPageIndex"]>[0])
    : target;
  return typeof page === "number" && page >= 0 && page < pdf.numPages ? page : undefined;
}

/**
 * The name of a page: the sections that begin on it, or the one that goes on; `undefined` before the first one.
 *
 * @param entries in the order of their pages
 */
export function nameOfPage(entries: readonly OutlineSection[], index: number): string | undefined {
  const begins = entries.filter(({ page }) => page === index);
  if (begins.length > 0) return shorten(begins.map(({ title }) => title).join("; "), MAX_NAME);
  const before = entries.findLast(({ page }) => page < index);
  return before && `${shorten(before.title, MAX_NAME)} (continued)`;
}

/** How pages are numbered: `i–xii, 1–452`; `undefined` when it is from 1 on. */
export function labelRanges(labels: readonly string[]): string | undefined {
  if (labels.every((label, index) => label === `${index + 1}`)) return undefined;
  const runs: { readonly form: string; readonly first: string; last: string }[] = [];
  for (const label of labels) {
    const form = label.replace(/\d+$/, "1").replace(/^[ivxlcdm]+$/, "i").replace(/^[IVXLCDM]+$/, "I");
    const run = runs.at(-1);
    if (run?.form === form && label !== "1") run.last = label;
    else runs.push({ form, first: label, last: label });
  }
  const texts = runs.map(({ first, last }) => first === last ? first : `${first}–${last}`);
  return texts.filter((text) => text !== "").join(", ") || undefined;
}
