/** What a PDF file says of itself: its title, subject, keywords and dates, unless a program wrote them by itself. */
import { getResolvedPDFJS } from "unpdf";
import { aboutFile } from "../about.ts";
import type { AboutFile } from "../format.ts";
import type { Pdf } from "./operators.ts";
import { labelRanges } from "./outline.ts";

/** What programs write when nobody has given a title, a subject or keywords. */
const PLACEHOLDERS: readonly RegExp[] = [
  /^\W*(?:untitled|unspecified|anonymous|unknown|unnamed|none|null|n\/a|(?:no )?(?:title|subject|keywords?|author))\W*(?:document)?\W*\d*\W*$/iu,
  /^(?:sans titre|ohne titel|unbenannt|sin título|sem título|senza titolo|без имени|无标题|未命名|無題)\W*\d*$/iu,
  /^(?:document|dokument|documento|документ|文档|文書|presentation|präsentation|présentation|presentación|演示文稿|book|mappe|classeur|libro|工作簿|sheet|drawing|publication)[ -]?\d+$/iu,
  /^(?:slide|folie|diapositi(?:ve|va)|dia|слайд|幻灯片|スライド) ?\d+$/iu,
  /^power ?point\W?\s?(?:presentation|präsentation|演示文稿|プレゼンテーション)$/iu,
  /^(?:présentation|presentación de|apresentação do|presentazione(?: standard)? di|презентация) power ?point$/iu,
  // The name of the program that printed the file, then that of the file.
  /^microsoft (?:office )?(?:word|power ?point|excel|publisher|visio|outlook|onenote)\b\s*(?:-.*)?$/iu,
  // The path or the name of the file from which it was made.
  /^(?:file:|[a-z]:[\\/]|\\\\|~?\/[^/\s]+\/)/iu,
  /^[^\n]*\S\.(?:docx?|docm|dotx?|rtf|odt|wpd|wps|pages|pptx?|odp|key|xlsx?|ods|csv|tex|dvi|ps|eps|pdf|indd|qxd|qxp|pmd|p65|fm|ai|cdr|psd|pub|vsdx?|dwg|html?|md|txt)$/iu,
];

/** The most characters of such a text. */
const MAX_PLACEHOLDER = 300;

/** A text that somebody wrote on purpose; `undefined` when it is none, empty, or what programs write by themselves. */
export function ownText(text: unknown): string | undefined {
  const trimmed = typeof text === "string" ? text.trim() : "";
  const isPlaceholder = trimmed.length <= MAX_PLACEHOLDER && PLACEHOLDERS.some((each) => each.test(trimmed));
  return trimmed === "" || isPlaceholder ? undefined : trimmed;
}

/** What a file says of itself. */
export async function aboutPdf(
  metadata: Awaited<ReturnType<Pdf["getMetadata"]>> | undefined,
  labels: readonly string[] | null,
): Promise<AboutFile> {
  const { PDFDateString } = await getResolvedPDFJS();
  const info = (metadata?.info ?? {}) as Readonly<Record<string, unknown>>;
  const date = (name: string) => PDFDateString.toDateObject(info[name] as string);
  const creators: unknown = metadata?.metadata?.get("dc:creator");
  return aboutFile({
    author: ownText(info["Author"]) ?? ownText([creators].flat().join(", ")),
    created: date("CreationDate"),
    changed: date("ModDate"),
    description: ownText(info["Subject"]),
    language: info["Language"],
    pageLabels: labels === null ? undefined : labelRanges(labels),
  });
}
