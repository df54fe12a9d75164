/** The cells of a workbook: their values, and how they are displayed. */
import { dateFromSerial, format as formatNumber, isDateFormat } from "numfmt";
import type { TableCell } from "@a2c-smcp/sdk";
import { joinText } from "../raised_text.ts";
import { formOf, type RunForm } from "../ooxml.ts";
import { symbolText } from "../symbol_fonts.ts";
import { at, childrenOf, textOf, type XmlNode } from "../xml.ts";

/** The number formats that workbooks do not spell out (ECMA-376, 18.8.30). */
const BUILT_IN: Readonly<Record<number, string>> = {
  1: "0",
  2: "0.00",
  3: "#,##0",
  4: "#,##0.00",
  9: "0%",
  10: "0.00%",
  11: "0.00E+00",
  12: "# ?/?",
  13: "# ??/??",
  14: "yyyy-mm-dd",
  15: "d-mmm-yy",
  16: "d-mmm",
  17: "mmm-yy",
  18: "h:mm AM/PM",
  19: "h:mm:ss AM/PM",
  20: "h:mm",
  21: "h:mm:ss",
  22: "yyyy-mm-dd h:mm",
  37: "#,##0 ;(#,##0)",
  38: "#,##0 ;[Red](#,##0)",
  39: "#,##0.00;(#,##0.00)",
  40: "#,##0.00;[Red](#,##0.00)",
  45: "mm:ss",
  46: "[h]:mm:ss",
  47: "mmss.0",
  48: "##0.0E+0",
  49: "@",
  // In East Asian versions, these are dates in the words of their language.
  ...Object.fromEntries([27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, "yyyy-mm-dd"])),
  ...Object.fromEntries([32, 33, 34, 35, 55, 56].map((id) => [id, "h:mm:ss"])),
};
/** How many digits of a number are shown, and are exact. */
const DIGITS = 15;
/** The days between the epochs of 1900 and 1904. */
const DAYS_1904 = 1_462;

/** A cell as it is shown, and its value where that is another. */
export interface CellValue {
  readonly shown: TableCell;
  readonly raw: TableCell;
  /** Empty when it is written in another cell, from which it was filled in. */
  readonly formula: string | undefined;
  /** The cells that the formula also fills. */
  readonly fills?: string | undefined;
  /** Whether the file has no result of the formula, because no program has calculated it. */
  readonly isUncalculated?: boolean;
}

/** Reads cells by the styles and shared texts of their workbook. */
export class CellReader {
  readonly #styles: readonly CellStyle[];
  readonly #sharedTexts: readonly string[];
  readonly #is1904: boolean;
  readonly #known = new Map<string, TableCell>();

  constructor(
    { styles, sharedTexts, is1904 }: {
      readonly styles: XmlNode | undefined;
      readonly sharedTexts: readonly string[];
      readonly is1904: boolean;
    },
  ) {
    this.#styles = readStyles(styles);
    this.#sharedTexts = sharedTexts;
    this.#is1904 = is1904;
  }

  read(cell: XmlNode): CellValue {
    const { ref } = at(cell, "f")?.attributes ?? {};
    const value = this.#marked(this.#read(cell), this.#styles[Number(cell.attributes["s"] ?? 0)]?.form);
    return ref !== undefined && ref !== cell.attributes["r"] ? { ...value, fills: ref } : value;
  }

  /** A value of a cell that is struck out or of a font of signs, or raised or lowered as a whole. */
  #marked(value: CellValue, form: RunForm | undefined): CellValue {
    const text = value.shown === null || form === undefined ? "" : String(value.shown);
    // Texts of several runs have forms of their own.
    if (text === "" || text.includes("~~")) return value;
    return { ...value, shown: joinText([{ ...form, text: symbolText(text, form?.font) }]) };
  }

  #read(cell: XmlNode): CellValue {
    const { t: type = "n", s: style = "0" } = cell.attributes;
    const formulaNode = at(cell, "f");
    const formula = formulaNode === undefined ? undefined : textOf(formulaNode);
    const value = textOf(at(cell, "v"));
    if (type === "inlineStr") return plain(richText(at(cell, "is")), formula);
    if (value === "") {
      // A formula whose result is an empty text has an empty `v`, of the type `str`.
      const isUncalculated = formula !== undefined && type !== "str";
      return { ...plain(null, formula), ...(isUncalculated ? { isUncalculated } : {}) };
    }
    switch (type) {
      case "s":
        return plain(this.#sharedTexts[Number(value)] ?? null, formula);
      case "b":
        return plain(value === "1", formula);
      case "n": {
        const number = Number(Number(value).toPrecision(DIGITS));
        if (!Number.isFinite(number)) return plain(value, formula);
        return this.#number(number, this.#styles[Number(style)]?.pattern ?? "General", formula);
      }
      default:
        return plain(unescapeText(value), formula);
    }
  }

  #number(number: number, pattern: string, formula: string | undefined): CellValue {
    if (pattern === "General" || pattern === "@") return plain(number, formula);
    const isDate = isDateFormat(pattern);
    const serial = isDate && this.#is1904 ? number + DAYS_1904 : number;
    const key = `${pattern}\0${serial}`;
    let shown = this.#known.get(key);
    if (shown === undefined) {
      shown = display(pattern, serial);
      if (this.#known.size < MAX_KNOWN) this.#known.set(key, shown);
    }
    return { shown, raw: isDate && hasDay(pattern) ? isoOf(serial) ?? number : number, formula };
  }
}

/** How many displayed numbers are kept: the same ones come often. */
const MAX_KNOWN = 10_000;

function plain(value: TableCell, formula: string | undefined): CellValue {
  return { shown: value, raw: value, formula };
}

function display(pattern: string, number: number): TableCell {
  try {
    const shown = formatNumber(pattern, number).trim();
    // A section is only for negative numbers, and shows no sign, if its condition is the usual one.
    const isSigned = number >= 0 || !/\[[<>=]+-?0*[.\d]*[1-9]/.test(pattern) || /^[-−(]|^\D*$/.test(shown);
    return isSigned ? shown : `-${shown}`;
  } catch {
    // A format that is not understood shows the number.
    return number;
  }
}

/** Whether a format shows a date, and no mere time of a day or duration. */
function hasDay(pattern: string): boolean {
  const codes = pattern.replace(/"[^"]*"|\\.|\[[^\]]*\]|am\/pm/gi, "");
  return !/[hs]/i.test(pattern.replace(/"[^"]*"|\\./g, "")) || /[yd]/i.test(codes);
}

/** The date of a serial number; a time alone has none. */
function isoOf(serial: number): string | undefined {
  const parts = serial < 1 ? null : dateFromSerial(serial);
  if (parts === null) return undefined;
  const [year, month, day, hours, minutes, seconds] = parts;
  const two = (number: number) => String(number).padStart(2, "0");
  const date = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
  return hours + minutes + seconds === 0
    ? date
    : `${date}T${two(hours)}:${two(minutes)}:${two(Math.floor(seconds))}`;
}

interface CellStyle {
  readonly pattern: string;
  /** `undefined` for the form of most cells. */
  readonly form: RunForm | undefined;
}

function readStyles(styles: XmlNode | undefined): CellStyle[] {
  const sheet = at(styles, "styleSheet");
  const own = new Map(
    childrenOf(at(sheet, "numFmts"), "numFmt").map(({ attributes }) => [
      Number(attributes["numFmtId"]),
      attributes["formatCode"] ?? "General",
    ]),
  );
  const forms = childrenOf(at(sheet, "fonts"), "font").map(formOf);
  return childrenOf(at(sheet, "cellXfs"), "xf").map(({ attributes }) => {
    const id = Number(attributes["numFmtId"] ?? 0);
    const form = forms[Number(attributes["fontId"] ?? -1)];
    return {
      pattern: own.get(id) ?? BUILT_IN[id] ?? "General",
      form: form?.isStruck === true || form?.position !== undefined || symbolText("a", form?.font) !== "a"
        ? form
        : undefined,
    };
  });
}

export function readSharedTexts(part: XmlNode | undefined): string[] {
  return childrenOf(at(part, "sst"), "si").map(richText);
}

/** A text of several runs; the readings beside Japanese characters are no part of it. */
export function richText(node: XmlNode | undefined): string {
  const runs = childrenOf(node).filter(({ name }) => name === "t" || name === "r");
  return joinText(runs.map((run) => {
    const form = formOf(at(run, "rPr"));
    return {
      ...form,
      text: symbolText(unescapeText(textOf(run.name === "t" ? run : at(run, "t"))), form.font),
    };
  }));
}

/** Characters that XML has no form for, such as `_x000D_` of a line end (ECMA-376, 22.9.2.19). Line ends become `\n`. */
function unescapeText(text: string): string {
  if (!text.includes("_x")) return text;
  return text.replace(
    /_x([0-9a-f]{4})_/gi,
    (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)),
  )
    .replace(/\r\n?/g, "\n").toWellFormed();
}

/** `B12`, or the first cell of `B12:C13`, as column 1 and row 11, both from 0. */
export function parseCellName(name: string): { readonly column: number; readonly row: number } | undefined {
  const [, letters, digits] = /^\$?([A-Z]{1,3})\$?(\d{1,7})(?::|$)/.exec(name) ?? [];
  if (letters === undefined) return undefined;
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
  return { column, row: Number(digits) - 1 };
}
