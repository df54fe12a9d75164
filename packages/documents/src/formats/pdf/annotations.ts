/** Links, comments and form fields of a PDF page. */
import type { FormField } from "@a2c-smcp/sdk";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { type TextItem, textOf, toLines } from "./lines.ts";

/** An annotation, as PDF.js gives it; only the members that are read. */
export interface PdfAnnotation {
  readonly subtype?: string;
  readonly url?: string;
  readonly rect?: readonly number[];
  readonly contentsObj?: { readonly str?: string };
  readonly titleObj?: { readonly str?: string };
  readonly modificationDate?: string | null;
  /** What an icon on the page stands for. */
  readonly file?: { readonly filename?: string };
  readonly fieldName?: string;
  readonly fieldType?: string;
  readonly fieldValue?: unknown;
  readonly alternativeText?: string;
  readonly required?: boolean;
  readonly checkBox?: boolean;
  readonly radioButton?: boolean;
  readonly pushButton?: boolean;
  readonly password?: boolean;
  readonly options?: readonly { readonly displayValue?: string }[];
}

/** The elements of annotations, in their order: links, then comments, then one form with all fields. */
export function toAnnotationElements(
  annotations: readonly PdfAnnotation[],
  items: readonly TextItem[],
): DocumentElement[] {
  const links = annotations.flatMap((annotation): DocumentElement[] => {
    const { subtype, url, rect } = annotation;
    if (subtype !== "Link" || url === undefined) return [];
    return [{ category: "link", content: { text: textIn(items, rect) || url, url } }];
  });
  const comments = annotations.flatMap(toComment);
  const fields = annotations.flatMap(toField);
  const form: DocumentElement[] = fields.length === 0
    ? []
    : [{ category: "form", summary: fields.map(fieldText).join("; "), content: { fields } }];
  return [...links, ...comments, ...form];
}

function toComment(
  { subtype, contentsObj, file, titleObj, modificationDate }: PdfAnnotation,
): DocumentElement[] {
  const said = contentsObj?.str?.trim() ?? "";
  const name = file?.filename;
  const text = name === undefined
    ? said
    : `Attached file, not shown: ${name}${said === name ? "" : `\n${said}`}`.trim();
  if (text === "" || ["Link", "Widget", "Popup"].includes(subtype ?? "")) return [];
  const author = titleObj?.str?.trim();
  const createdAt = toIsoDate(modificationDate ?? undefined);
  return [{
    category: "annotation",
    content: {
      text,
      ...(author ? { author } : {}),
      ...(createdAt === undefined ? {} : { created_at: createdAt }),
    },
  }];
}

/** A field as the summary of the form shows it. */
function fieldText({ name, label = name, value }: FormField): string {
  return `${label}: ${value === undefined || value === "" ? "(empty)" : value}`;
}

function toField(annotation: PdfAnnotation): FormField[] {
  const { subtype, fieldName = "", fieldValue, alternativeText, required, options, password, pushButton } =
    annotation;
  if (subtype !== "Widget" || fieldName === "" || pushButton === true) return [];
  const choices = options?.flatMap(({ displayValue }) => displayValue ?? []);
  return [{
    name: fieldName,
    type: kindOf(annotation),
    ...(alternativeText ? { label: alternativeText } : {}),
    ...(fieldValue === null || fieldValue === undefined || password === true ? {} : { value: fieldValue }),
    ...(required === true ? { required } : {}),
    ...(choices === undefined || choices.length === 0 ? {} : { options: choices }),
  }];
}

function kindOf({ fieldType, checkBox, radioButton, password }: PdfAnnotation): string {
  if (checkBox === true) return "checkbox";
  if (radioButton === true) return "radio";
  if (password === true) return "password";
  if (fieldType === "Ch") return "select";
  return fieldType === "Sig" ? "signature" : "text";
}

function textIn(items: readonly TextItem[], rect: readonly number[] | undefined): string {
  const [left = 0, bottom = 0, right = 0, top = 0] = rect ?? [];
  const inside = items.filter(({ transform: [, , , , x = 0, y = 0], width, height }) => {
    const [middleX, middleY] = [x + width / 2, y + height / 2];
    return middleX >= left && middleX <= right && middleY >= bottom && middleY <= top;
  });
  return toLines(inside).map(textOf).join(" ");
}

/** `D:20260102030405+01'00'` in ISO 8601; `undefined` for other texts. */
export function toIsoDate(text: string | undefined): string | undefined {
  const [, year, month = "01", day = "01", hours = "00", minutes = "00", seconds = "00", zone = "Z"] =
    /^D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?([+-]\d\d'\d\d|Z)?/.exec(text ?? "") ?? [];
  if (year === undefined) return undefined;
  return `${year}-${month}-${day}T${hours}:${minutes}:${seconds}${zone.replace("'", ":")}`;
}
