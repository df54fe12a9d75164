/** What the Finder shows of a file: its title, keywords and summary, made from what the parser has found. */
import type { OutlineSection } from "@a2c-smcp/sdk/provider";
import { oneLine, shorten } from "./basics.ts";
import type { AboutFile, DocumentFacts } from "./formats/format.ts";
import { nameOf } from "./file_name.ts";
import { MAX_TITLE_LENGTH } from "./formats/sections.ts";

/** The most keywords of a document, and the most characters of all of them. */
const MAX_KEYWORDS = 40;
const MAX_KEYWORDS_LENGTH = 1_500;
/** The most characters of one keyword: a heading may be one. */
const MAX_KEYWORD_LENGTH = 80;
/** The most characters of a summary. */
const MAX_SUMMARY_LENGTH = 240;
/** How many words of the text become keywords: those that occur most often. */
const FREQUENT_WORDS = 10;
/** The most titles of pages that are kept, and the most characters of one. */
const MAX_PAGE_TITLES = 2_000;
const MAX_PAGE_TITLE_LENGTH = 80;
/** The most entries of an outline: with more, the deepest levels are left out. */
const MAX_OUTLINE = 2_000;
/** The most characters of what a file says of itself, each. */
const MAX_ABOUT_LENGTH = 500;

export interface DocumentReport {
  readonly title?: string | undefined;
  readonly pageCount: number;
  /** The titles of the first pages, for those that cannot be read. */
  readonly pageTitles?: readonly string[] | undefined;
  readonly keywords: readonly string[];
  readonly summary?: string | undefined;
  /** Chapters and sections in reading order; of a document of one page there are none. */
  readonly outline?: readonly OutlineSection[] | undefined;
  readonly about?: AboutFile | undefined;
  /** Each feature of the file that its pages do not show, as one sentence. */
  readonly losses: readonly string[];
}

/** Makes a report of the facts of a file, given by its path. */
export function makeReport(facts: DocumentFacts, path: string): DocumentReport {
  const { title, pageCount, pageTitles, losses } = facts;
  return {
    title: title === undefined || title.trim() === "" ? undefined : shorten(oneLine(title), MAX_TITLE_LENGTH),
    pageCount,
    pageTitles: pageTitles?.slice(0, MAX_PAGE_TITLES).map((each) => shorten(each, MAX_PAGE_TITLE_LENGTH)),
    keywords: keywordsOf(facts, path),
    summary: summaryOf(facts),
    outline: pageCount < 2 ? undefined : boundedOutline(facts.outline ?? []),
    about: aboutOf(facts.about ?? {}),
    losses,
  };
}

function boundedOutline(all: readonly OutlineSection[]): OutlineSection[] | undefined {
  let kept = all.filter(({ title }) => title.trim() !== "");
  while (kept.length > MAX_OUTLINE) {
    const deepest = kept.reduce((max, { level }) => Math.max(max, level), 0);
    const higher = kept.filter(({ level }) => level < deepest);
    kept = higher.length === 0 ? kept.slice(0, MAX_OUTLINE) : higher;
  }
  const entries = kept.map(({ title, level, page }) => ({
    title: shorten(oneLine(title), MAX_PAGE_TITLE_LENGTH),
    level,
    page,
  }));
  return entries.length === 0 ? undefined : entries;
}

/** What is known of it, in one line each; `undefined` when that is nothing. */
function aboutOf(about: AboutFile): AboutFile | undefined {
  const known = Object.entries(about).flatMap(([name, text]) => {
    const shown = shorten(oneLine(text ?? ""), MAX_ABOUT_LENGTH);
    return shown === "" ? [] : [[name, shown]];
  });
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

/**
 * The keywords of a document: what its author set, the words of the file's name, the authors, the headings, and the most
 * frequent words of the beginning. Headings stay whole, because a search for `annual revenue` looks for the words beside each other.
 */
function keywordsOf({ keywords = [], about, headings, opening }: DocumentFacts, path: string): string[] {
  const name = nameOf(path).replace(/\.[^.]*$/, "").replace(/[_-]+/g, " ");
  const found = new Map<string, string>();
  let length = 0;
  const authors = about?.author?.split(",") ?? [];
  for (const candidate of [...keywords, name, ...authors, ...headings, ...frequentWords(opening)]) {
    const keyword = shorten(oneLine(candidate), MAX_KEYWORD_LENGTH);
    const key = keyword.toLowerCase();
    if (keyword === "" || found.has(key)) continue;
    length += keyword.length;
    if (found.size >= MAX_KEYWORDS || length > MAX_KEYWORDS_LENGTH) break;
    found.set(key, keyword);
  }
  return [...found.values()];
}

const words = new Intl.Segmenter(undefined, { granularity: "word" });

function frequentWords(text: string): string[] {
  const counts = new Map<string, number>();
  for (const { segment, isWordLike } of words.segment(text)) {
    const word = segment.toLowerCase();
    if (!isWordLike || !/^\p{L}{2,}$/u.test(word) || STOP_WORDS.has(word)) continue;
    // Most short words of alphabets carry no meaning; words of Chinese and Japanese have two characters.
    if (word.length < 4 && /^\p{Script=Latin}+$/u.test(word)) continue;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > 1).sort(([, a], [, b]) => b - a).slice(0, FREQUENT_WORDS)
    .map(([word]) => word);
}

/** The first sentences of the text, else the headings. */
function summaryOf({ opening, headings }: DocumentFacts): string | undefined {
  const text = oneLine(opening);
  if (text === "") {
    return headings.length === 0 ? undefined : shorten(headings.join(", "), MAX_SUMMARY_LENGTH);
  }
  const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text.slice(0, 2_000));
  let summary = "";
  for (const { segment } of sentences) {
    if (summary !== "" && summary.length + segment.length > MAX_SUMMARY_LENGTH) break;
    summary += segment;
  }
  return shorten(summary.trim(), MAX_SUMMARY_LENGTH);
}

/** Frequent English words of four letters and more that say nothing of a document. */
const STOP_WORDS = new Set(
  ("about above after again also although always another because been before being below between both cannot could does " +
    "doing done down during each either else even every from further have having here however into itself just least less " +
    "like made many might more most much must neither never only other others otherwise over same shall should since some " +
    "such than that their them then there these they this those through thus under until upon very were what when where " +
    "whether which while whose will with within without would your").split(" "),
);
