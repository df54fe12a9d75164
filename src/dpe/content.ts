/** Reads the `content` of an element into the type of its category (`docs/protocol/finder.md#element-content`). */
import { ELEMENT_CATEGORIES, type ElementCategory } from "../protocol/dpe.ts";
import type {
  AnnotationContent,
  ChartContent,
  CodeContent,
  DiagramContent,
  ElementContents,
  FormContent,
  FormField,
  FormulaContent,
  HeadingContent,
  ImageContent,
  LinkContent,
  MediaContent,
  PivotTableContent,
  TableCell,
  TableContent,
  TextContent,
  WidgetContent,
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

const READERS: { readonly [Category in ElementCategory]: Reader<ElementContents[Category]> } = {
  text: readText,
  heading: readHeading,
  list: (content) => readList(content),
  code: readCode,
  table: readTable,
  pivot_table: readPivotTable,
  chart: readChart,
  diagram: readDiagram,
  image: readImage,
  formula: readFormula,
  link: readLink,
  annotation: readAnnotation,
  header: readText,
  footer: readText,
  separator: (content) => withMembers(content, { style: textOf(content["style"]) }),
  audio: readMedia,
  video: readMedia,
  form: readForm,
  widget: readWidget,
};

/** Reads an element of a peer; `undefined` when its content does not match its category. */
export function readContent(element: unknown): TypedContent | undefined {
  if (!isRecord(element) || !isRecord(element["content"])) return undefined;
  const category = ELEMENT_CATEGORIES.find((known) => known === element["category"]);
  if (category === undefined) return undefined;
  const content = READERS[category](element["content"]);
  // The table above pairs each category with the reader of its content.
  return content === undefined ? undefined : { category, content } as TypedContent;
}

function readText(content: Members): TextContent | undefined {
  const text = textOf(content["text"]);
  return text === undefined ? undefined : withMembers(content, { text });
}

function readHeading(content: Members): HeadingContent | undefined {
  const text = textOf(content["text"]);
  const level = Math.min(6, Math.max(1, Math.round(numberOf(content["level"]) ?? 1)));
  return text === undefined ? undefined : withMembers(content, { level, text });
}

function readCode(content: Members): CodeContent | undefined {
  const code = textOf(content["code"]) ?? textOf(content["text"]);
  const language = textOf(content["language"]);
  return code === undefined ? undefined : withMembers(content, { language, code });
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

function readChart(content: Members): ChartContent | undefined {
  const title = textOf(content["title"]);
  const data_summary = textOf(content["data_summary"]);
  if (title === undefined || data_summary === undefined) return undefined;
  return withMembers(content, { chart_type: textOf(content["chart_type"]), title, data_summary });
}

function readDiagram(content: Members): DiagramContent {
  return withMembers(content, {
    diagram_type: textOf(content["diagram_type"]),
    title: textOf(content["title"]),
    description: textOf(content["description"]),
    source: textOf(content["source"]),
  });
}

/** Also accepts `src` and `alt`, the names in HTML. */
function readImage(content: Members): ImageContent | undefined {
  const url = textOf(content["url"]) ?? textOf(content["src"]);
  const description = textOf(content["description"]) ?? textOf(content["alt"]);
  if (url === undefined && description === undefined) return undefined;
  const mime_type = textOf(content["mime_type"]);
  const [width, height] = [numberOf(content["width"]), numberOf(content["height"])];
  return withMembers(content, { description, url, mime_type, width, height });
}

function readFormula(content: Members): FormulaContent | undefined {
  const expression = textOf(content["expression"]);
  if (expression === undefined) return undefined;
  const result = content["result"] === undefined ? undefined : cellOf(content["result"]);
  return withMembers(content, { expression, result });
}

/** Also accepts `href`, the name in HTML. */
function readLink(content: Members): LinkContent | undefined {
  const text = textOf(content["text"]);
  const url = textOf(content["url"]) ?? textOf(content["href"]);
  return text === undefined || url === undefined ? undefined : withMembers(content, { text, url });
}

function readAnnotation(content: Members): AnnotationContent | undefined {
  const text = textOf(content["text"]);
  if (text === undefined) return undefined;
  return withMembers(content, {
    text,
    author: textOf(content["author"]),
    created_at: textOf(content["created_at"]),
    target_id: textOf(content["target_id"]),
  });
}

function readMedia(content: Members): MediaContent {
  return withMembers(content, {
    url: textOf(content["url"]),
    title: textOf(content["title"]),
    description: textOf(content["description"]),
    mime_type: textOf(content["mime_type"]),
    duration: numberOf(content["duration"]),
  });
}

/** A field without a name is left out. */
function readForm(content: Members): FormContent | undefined {
  const { fields } = content;
  if (!Array.isArray(fields)) return undefined;
  return withMembers(content, {
    title: textOf(content["title"]),
    fields: fields.map(readField).filter((field) => field !== undefined),
  });
}

function readField(field: unknown): FormField | undefined {
  const name = isRecord(field) ? textOf(field["name"]) : undefined;
  if (!isRecord(field) || name === undefined) return undefined;
  return withMembers(field, {
    name,
    label: textOf(field["label"]),
    type: textOf(field["type"]),
    required: booleanOf(field["required"]),
    options: textsOf(field["options"]),
  });
}

function readWidget(content: Members): WidgetContent {
  return withMembers(content, {
    widget_type: textOf(content["widget_type"]),
    title: textOf(content["title"]),
  });
}
