/** The questions, and the short files that are read as a whole. */

export interface Question {
  readonly kind: string;
  readonly folder: string;
  /** The file that has the answer, which a client of markitdown is told. */
  readonly file: string;
  /** The words that a model takes from the question for a search. */
  readonly query: string;
  /** Texts that an answer needs, all of them. */
  readonly answer: readonly string[];
}

const LOCKS = Array.from({ length: 8 }, (_, n) => `${7301 + n * 13}`);

export const QUESTIONS: readonly Question[] = [
  ...ofKind("a cell of a sheet of 50,000 rows", "sales", "yields.xlsx", [
    ["yield East Quarry Lane 2025", "4812"],
    ["inspector Lighthouse Field Coast 2025", "Ola Brand"],
  ]),
  ...ofKind("a record of a CSV file of 50,000 rows", "sales", "orders.csv", [
    ["status order PO-7741902", "held by customs"],
    ["order Vale Orchards returned", "PO-7300455"],
  ]),
  ...ofKind("an instruction in a manual of 464 pages", "support", "printer_manual.pdf", [
    ["PCL tray mapping", "PCL value 14"],
    ["clean the fuser kit", "604K-73140"],
  ]),
  ...ofKind("eight pages of that manual", "support", "printer_manual.pdf", [
    ["moving the printer lock pin", ...LOCKS],
  ]),
  ...ofKind("a line of a log of 30,000 lines", "support", "pumps.log", [
    ["pump 17 stopped error", "E-4471"],
    ["pump 33 error no pressure", "E-1208"],
  ]),
  ...ofKind("a clause of a contract", "contracts", "supply_2026.docx", [
    ["supplier liable slight negligence", "14.7", "180,000 EUR"],
    ["notice of termination", "9.3", "75 days"],
  ]),
  ...ofKind("a clause of a contract", "contracts", "lease_hall.docx", [
    ["colour of the loading ramp", "11.5", "RAL 6018"],
  ]),
  ...ofKind("the attachment of a mail", "office", "mail_077.eml", [
    ["frost insurance policy attached", "policy-2291.pdf"],
  ]),
  ...ofKind("the attachment of a mail", "office", "mail_031.eml", [
    ["crane inspection certificate", "crane-K5-certificate.pdf"],
  ]),
  ...ofKind("the notes of a slide", "office", "strategy.pptx", [
    ["wind machines", "61,900 EUR"],
    ["second depot opens", "14 May"],
  ]),
  ...ofKind("a section of a handbook in HTML", "office", "handbook.html", [
    ["parental leave paid weeks form", "23 weeks", "HR-77"],
    ["company bicycle costs", "19.40 EUR"],
  ]),
  ...ofKind("a sentence in Chinese", "office", "公告.txt", [
    ["霜冻保险的免赔额", "一千二百元"],
    ["冷库钥匙", "七十九"],
  ]),
  ...ofKind("a definition of source code", "code", "formats/format.ts", [
    ["DocumentErrorCode", '"damaged" | "encrypted" | "too_large" | "unsupported"'],
  ]),
  ...ofKind("a definition of source code", "code", "formats/pdf/lines.ts", [
    ["function joinTexts", "export function joinTexts(lines: readonly string[]): string"],
  ]),
];

export const SHORT_FILES = [
  ..."minutes.docx prices.xlsx board.pptx leaflet.pdf notes.md page.html log.txt items.csv one_line.txt"
    .split(" "),
];

function ofKind(
  kind: string,
  folder: string,
  file: string,
  asked: readonly (readonly [query: string, ...answer: string[]])[],
): Question[] {
  return asked.map(([query, ...answer]) => ({ kind, folder, file, query, answer }));
}
