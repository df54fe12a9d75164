/** Reads the `content` of an element into the type of its category (`docs/protocol/finder.md#element-content`). */
import { type DPEElementDetail, ELEMENT_CATEGORIES, type ElementCategory } from "../protocol/dpe.ts";
import type {
  DPEElement,
  ElementContents,
  FormField,
  ImageContent,
  PivotTableContent,
  TableCell,
  TableContent,
} from "../protocol/dpe_content.ts";
import { isRecord } from "../json/json.ts";
import { readList } from "./list.ts";
import { booleanOf, cellOf, type Members, numberOf, textOf, textsOf, withMembers } from "./members.ts";

/** A category and content of its type. */
export type TypedContent = {
  [Category in ElementCategory]: {
    readonly category: Category;
    readonly content: ElementContents[Category];
  };
}[ElementCategory];

/** Reads the content of one category; `undefined` when the content is invalid. */
type Reader<Content> = (content: Members) => Content | undefined;

const MEDIA = { url: textOf, title: textOf, description: textOf, mime_type: textOf, duration: numberOf };

const READERS: { readonly [Category in ElementCategory]: Reader<ElementContents[Category]> } = {
  text: reader({ text: textOf }, ["text"]),
  heading: reader({ level: levelOf, text: textOf }, ["text"]),
  list: (content) => readList(content),
  code: reader({ language: textOf, code: textOf }, ["code"], { code: "text" }),
  table: readTable,
  pivot_table: readPivotTable,
  chart: reader({ chart_type: textOf, title: textOf, data_summary: textOf }, ["title", "data_summary"]),
  diagram: reader({ diagram_type: textOf, title: textOf, description: textOf, source: textOf }),
  image: readImage,
  formula: reader({ expression: textOf, result: resultOf }, ["expression"]),
  // `href` is the name in HTML.
  link: reader({ text: textOf, url: textOf }, ["text", "url"], { url: "href" }),
  annotation: reader({ text: textOf, author: textOf, created_at: textOf, target_id: textOf }, ["text"]),
  header: reader({ text: textOf }, ["text"]),
  footer: reader({ text: textOf }, ["text"]),
  separator: reader({ style: textOf }),
  audio: reader(MEDIA),
  video: reader(MEDIA),
  form: reader({ title: textOf, fields: fieldsOf }, ["fields"]),
  widget: reader({ widget_type: textOf, title: textOf }),
};

/** Reads these members, or else those of other names; content without one of `needed` is invalid. */
function reader<Content>(
  members: Readonly<Record<string, (value: unknown) => unknown>>,
  needed: readonly string[] = [],
  otherNames: Readonly<Record<string, string>> = {},
): Reader<Content> {
  return (content) => {
    const read = Object.fromEntries(
      Object.entries(members).map(([name, read]) => {
        const other = otherNames[name];
        return [name, read(content[name]) ?? (other === undefined ? undefined : read(content[other]))];
      }),
    );
    if (needed.some((name) => read[name] === undefined)) return undefined;
    // The members of a row of the table are those of its category's content.
    return withMembers(content, read) as Content;
  };
}

/**
 * Checks the content of an element, and returns the element with the type of its category. Optional members of a wrong
 * type are removed, nested values in table cells become JSON strings, the aliases `src`, `href` and `children` become
 * `url` and `items`, and unknown members are kept.
 *
 * Specification: `docs/protocol/finder.md#element-content`.
 *
 * @returns `undefined` when the category is unknown, or the content does not match it
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { toElement } from "@a2c-smcp/sdk";
 *
 * const element = toElement({ element_id: "h-1", category: "heading", content: { text: "Sales" } });
 * assertEquals(element?.category === "heading" && element.content.level, 1);
 * assertEquals(toElement({ element_id: "h-2", category: "heading", content: {} }), undefined);
 * ```
 */
export function toElement(element: DPEElementDetail): DPEElement | undefined {
  const typed = readContent(element);
  // Category and content come from one member of the union.
  return typed === undefined ? undefined : { ...element, ...typed } as DPEElement;
}

/** Reads an element of a peer; `undefined` when its content does not match its category. */
export function readContent(element: unknown): TypedContent | undefined {
  if (!isRecord(element) || !isRecord(element["content"])) return undefined;
  const category = ELEMENT_CATEGORIES.find((known) => known === element["category"]);
  if (category === undefined) return undefined;
  const content = READERS[category](element["content"]);
  // The table above pairs each category with the reader of its content.
  return content === undefined ? undefined : { category, content } as TypedContent;
}

function levelOf(value: unknown): number {
  return Math.min(6, Math.max(1, Math.round(numberOf(value) ?? 1)));
}

function resultOf(value: unknown): TableCell | undefined {
  return value === undefined ? undefined : cellOf(value);
}

function readTable(content: Members): TableContent | undefined {
  const headers = textsOf(content["headers"]);
  const rows = headers === undefined ? undefined : readRows(content["rows"], headers);
  if (headers === undefined || rows === undefined) return undefined;
  if (headers.length === 0 && rows.every((row) => row.length === 0)) return undefined;
  return withMembers(content, {
    headers,
    rows,
    total_rows: numberOf(content["total_rows"]),
    total_columns: numberOf(content["total_columns"]),
  });
}

/** Reads rows. A row is a list of cells, or an object with a member for each column. */
function readRows(rows: unknown, headers: readonly string[]): TableCell[][] | undefined {
  if (!Array.isArray(rows)) return undefined;
  const read = rows.map((row) => {
    if (Array.isArray(row)) return row.map(cellOf);
    return isRecord(row)
      ? headers.map((header) => cellOf(Object.hasOwn(row, header) ? row[header] : null))
      : undefined;
  });
  return read.every((row) => row !== undefined) ? read : undefined;
}

function readPivotTable(content: Members): PivotTableContent | undefined {
  const table = readTable(content);
  if (table === undefined) return undefined;
  return withMembers(table, {
    headers: table.headers,
    rows: table.rows,
    row_fields: textsOf(content["row_fields"]),
    column_fields: textsOf(content["column_fields"]),
    value_fields: textsOf(content["value_fields"]),
  });
}

const readPicture = reader<ImageContent>(
  { description: textOf, url: textOf, mime_type: textOf, width: numberOf, height: numberOf },
  [],
  { url: "src", description: "alt" },
);

/** Also accepts `src` and `alt`, the names in HTML. */
function readImage(content: Members): ImageContent | undefined {
  const image = readPicture(content);
  return image?.url === undefined && image?.description === undefined ? undefined : image;
}

/** The fields of a form; one without a name is left out. */
function fieldsOf(fields: unknown): FormField[] | undefined {
  if (!Array.isArray(fields)) return undefined;
  return fields.map((field) => isRecord(field) ? readField(field) : undefined).filter((field) =>
    field !== undefined
  );
}

const readField = reader<FormField>(
  { name: textOf, label: textOf, type: textOf, required: booleanOf, options: textsOf },
  ["name"],
);
