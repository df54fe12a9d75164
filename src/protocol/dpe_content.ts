/**
 * The content of an element, by category (`docs/protocol/finder.md#element-content`). The specification defines
 * `heading`, `text`, `table` and `chart`; its rendering rules imply `list`, `code`, `image`, `link` and `formula`; we
 * define the other ten. All of them allow further members.
 */
import type { DPEElementDetail, ElementCategory } from "./dpe.ts";

/** The content of an element of any category: a JSON object. */
export interface ElementContent {
  /** Other members that the MCP server sends. */
  readonly [member: string]: unknown;
}

/** `text`: a paragraph, plain or rich. */
export interface TextContent extends ElementContent {
  /** With line breaks. */
  readonly text: string;
}

/** `heading`: a heading. */
export interface HeadingContent extends ElementContent {
  /** From 1, the highest, to 6. */
  readonly level: number;
  /** The heading, one line. */
  readonly text: string;
}

/** `list`: a list, or the list below an item. */
export interface ListContent extends ElementContent {
  /** Whether the items are numbered; `false` by default. */
  readonly ordered?: boolean;
  /** The first number; 1 by default. */
  readonly start?: number;
  /** At least one. */
  readonly items: readonly ListItem[];
}

/** An item of a list: a text, or a text with a list below it. */
export type ListItem = string | ListItemContent;

/** An item of a list, with an optional list below it. */
export interface ListItemContent extends Partial<ListContent> {
  /** The text of the item; empty when the item is only a list. */
  readonly text: string;
}

/** `code`: a block of code. */
export interface CodeContent extends ElementContent {
  /** The language, as in a Markdown code fence, such as `ts`. */
  readonly language?: string;
  /** With line breaks. */
  readonly code: string;
}

/** A cell of a table; `null` is an empty cell. */
export type TableCell = string | number | boolean | null;

/** `table`: a table. */
export interface TableContent extends ElementContent {
  /** The names of the columns. */
  readonly headers: readonly string[];
  /** The rows; may be fewer than `total_rows`. */
  readonly rows: readonly (readonly TableCell[])[];
  /** The number of all rows of the table. */
  readonly total_rows?: number;
  /** The number of all columns of the table. */
  readonly total_columns?: number;
}

/** `pivot_table`: the visible table, and the fields that it is computed from. */
export interface PivotTableContent extends TableContent {
  /** The fields along the rows. */
  readonly row_fields?: readonly string[];
  /** The fields along the columns. */
  readonly column_fields?: readonly string[];
  /** The fields in the cells, such as `SUM(amount)`. */
  readonly value_fields?: readonly string[];
}

/** `chart`: a chart. */
export interface ChartContent extends ElementContent {
  /** The kind of chart, such as `line`, `bar` or `pie`. */
  readonly chart_type?: string;
  /** The title of the chart. */
  readonly title: string;
  /** A summary of the data, in one sentence. */
  readonly data_summary: string;
}

/** `diagram`: a diagram of a process, an architecture and so on. */
export interface DiagramContent extends ElementContent {
  /** The kind of diagram, such as `flowchart`, `sequence` or `architecture`. */
  readonly diagram_type?: string;
  /** The title of the diagram. */
  readonly title?: string;
  /** A description of the picture. */
  readonly description?: string;
  /** The source text, such as Mermaid or PlantUML. */
  readonly source?: string;
}

/** `image`: an image with a description, a URL, or both. */
export interface ImageContent extends ElementContent {
  /** A description of the picture. */
  readonly description?: string;
  /** The URL. */
  readonly url?: string;
  /** The media type. */
  readonly mime_type?: string;
  /** The width in pixels. */
  readonly width?: number;
  /** The height in pixels. */
  readonly height?: number;
}

/** `formula`: a formula. */
export interface FormulaContent extends ElementContent {
  /** The formula as in the source: LaTeX, or for example `=SUM(A1:A4)`. */
  readonly expression: string;
  /** The value of the formula. */
  readonly result?: TableCell;
}

/** `link`: a link. */
export interface LinkContent extends ElementContent {
  /** The text of the link. */
  readonly text: string;
  /** The target of the link. */
  readonly url: string;
}

/** `annotation`: a comment on a part of the document. */
export interface AnnotationContent extends ElementContent {
  /** The text of the comment. */
  readonly text: string;
  /** The name of the author. */
  readonly author?: string;
  /** When it was written, in ISO 8601. */
  readonly created_at?: string;
  /** The `element_id` that the comment refers to. */
  readonly target_id?: string;
}

/** `header` and `footer`: the text at the top or the bottom of a page. */
export interface MarginContent extends ElementContent {
  /** With line breaks. */
  readonly text: string;
}

/** `separator`: a line or a break between elements. */
export interface SeparatorContent extends ElementContent {
  /** The style, such as `line` or `page-break`. */
  readonly style?: string;
}

/** `audio` and `video`. */
export interface MediaContent extends ElementContent {
  /** The URL. */
  readonly url?: string;
  /** The title. */
  readonly title?: string;
  /** A description of the sound or the picture. */
  readonly description?: string;
  /** The media type. */
  readonly mime_type?: string;
  /** The duration in seconds. */
  readonly duration?: number;
}

/** A field of a form. */
export interface FormField extends ElementContent {
  /** Unique within the form. */
  readonly name: string;
  /** The label, for display. */
  readonly label?: string;
  /** The kind of field, such as `text`, `checkbox` or `select`. */
  readonly type?: string;
  /** The current value. */
  readonly value?: unknown;
  /** Whether a value is required. */
  readonly required?: boolean;
  /** The values to choose from. */
  readonly options?: readonly string[];
}

/** `form`. */
export interface FormContent extends ElementContent {
  /** The title of the form. */
  readonly title?: string;
  /** The fields, in order. */
  readonly fields: readonly FormField[];
}

/** `widget`: an interactive control of any other kind. */
export interface WidgetContent extends ElementContent {
  /** The kind of control, such as `slider` or `calendar`. */
  readonly widget_type?: string;
  /** The title. */
  readonly title?: string;
  /** The current state or value. */
  readonly state?: unknown;
}

/** The type of the content for each of the 19 categories. */
export interface ElementContents {
  /** A paragraph. */
  text: TextContent;
  /** A heading. */
  heading: HeadingContent;
  /** A list. */
  list: ListContent;
  /** A block of code. */
  code: CodeContent;
  /** A table. */
  table: TableContent;
  /** A pivot table. */
  pivot_table: PivotTableContent;
  /** A chart. */
  chart: ChartContent;
  /** A diagram. */
  diagram: DiagramContent;
  /** An image. */
  image: ImageContent;
  /** A formula. */
  formula: FormulaContent;
  /** A link. */
  link: LinkContent;
  /** A comment. */
  annotation: AnnotationContent;
  /** The top of the page. */
  header: MarginContent;
  /** The bottom of the page. */
  footer: MarginContent;
  /** A separator. */
  separator: SeparatorContent;
  /** A sound. */
  audio: MediaContent;
  /** A video. */
  video: MediaContent;
  /** A form. */
  form: FormContent;
  /** A control. */
  widget: WidgetContent;
}

/** An element of one category. */
export interface DPEElementOf<Category extends ElementCategory> extends DPEElementDetail {
  /** The category; determines the type of the content. */
  category: Category;
  /** The content, with the type of its category. */
  content: ElementContents[Category];
}

/**
 * An element whose content has the type of its category: a union discriminated by `category`. Every `DPEElement` is a
 * {@linkcode DPEElementDetail}, the unchecked type that peers send; `toElement()` checks one.
 *
 * Specification: `docs/protocol/finder.md#element-content`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import type { DPEElement } from "@a2c-smcp/sdk";
 *
 * const elements: DPEElement[] = [
 *   { element_id: "h-001", category: "heading", content: { level: 1, text: "Sales" } },
 *   { element_id: "tbl-001", category: "table", content: { headers: ["Quarter"], rows: [["Q1"], ["Q2"]] } },
 * ];
 * const rows = elements.flatMap((element) => element.category === "table" ? element.content.rows : []);
 * assertEquals(rows, [["Q1"], ["Q2"]]);
 * ```
 */
export type DPEElement = { [Category in ElementCategory]: DPEElementOf<Category> }[ElementCategory];
