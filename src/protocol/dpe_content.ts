/**
 * What an element's `content` holds, by category (`docs/protocol/finder.md#element-content`). The specification shows the shapes of
 * `heading`, `text`, `table` and `chart`; the rendering rules tell what `list`, `code`, `image`, `link` and `formula`
 * must have; the other ten are the obvious ones. Every shape may have further members.
 */
import type { DPEElementDetail, ElementCategory } from "./dpe.ts";

/** The content of an element of any category: a JSON object. */
export interface ElementContent {
  /** Whatever else its MCP server tells. */
  readonly [member: string]: unknown;
}

/** `text`: a paragraph, plain or rich. */
export interface TextContent extends ElementContent {
  /** With its line breaks. */
  readonly text: string;
}

/** `heading`. */
export interface HeadingContent extends ElementContent {
  /** From 1, the highest, to 6. */
  readonly level: number;
  /** One line. */
  readonly text: string;
}

/** `list`, and what is below an item of one. */
export interface ListContent extends ElementContent {
  /** Whether its items are numbered; they are not by default. */
  readonly ordered?: boolean;
  /** The first number; 1 by default. */
  readonly start?: number;
  /** At least one. */
  readonly items: readonly ListItem[];
}

/** An item of a list: its text, or its text and the list below it. */
export type ListItem = string | ListItemContent;

/** An item of a list that may have a list below it. */
export interface ListItemContent extends Partial<ListContent> {
  /** Empty when there is only the list below. */
  readonly text: string;
}

/** `code`. */
export interface CodeContent extends ElementContent {
  /** As a fenced block would name it, such as `ts`. */
  readonly language?: string;
  /** With its line breaks. */
  readonly code: string;
}

/** A cell of a table; `null` is an empty one. */
export type TableCell = string | number | boolean | null;

/** `table`. */
export interface TableContent extends ElementContent {
  /** The names of the columns. */
  readonly headers: readonly string[];
  /** May be fewer than the table has. */
  readonly rows: readonly (readonly TableCell[])[];
  /** All rows of the table. */
  readonly total_rows?: number;
  /** All columns of the table. */
  readonly total_columns?: number;
}

/** `pivot_table`: the table as it is shown, and the fields that it was made from. */
export interface PivotTableContent extends TableContent {
  /** The fields along the rows. */
  readonly row_fields?: readonly string[];
  /** The fields along the columns. */
  readonly column_fields?: readonly string[];
  /** The fields in the cells, such as `SUM(amount)`. */
  readonly value_fields?: readonly string[];
}

/** `chart`. */
export interface ChartContent extends ElementContent {
  /** Such as `line`, `bar`, `pie`. */
  readonly chart_type?: string;
  /** What it shows. */
  readonly title: string;
  /** What can be seen in it, in a sentence. */
  readonly data_summary: string;
}

/** `diagram`: of a flow, an architecture … */
export interface DiagramContent extends ElementContent {
  /** Such as `flowchart`, `sequence`, `architecture`. */
  readonly diagram_type?: string;
  /** What it shows. */
  readonly title?: string;
  /** What can be seen in it. */
  readonly description?: string;
  /** What it was drawn from, such as Mermaid or PlantUML. */
  readonly source?: string;
}

/** `image`: has a description, or a URL, or both. */
export interface ImageContent extends ElementContent {
  /** What can be seen in it. */
  readonly description?: string;
  /** Where it is. */
  readonly url?: string;
  /** The media type. */
  readonly mime_type?: string;
  /** Pixels. */
  readonly width?: number;
  /** Pixels. */
  readonly height?: number;
}

/** `formula`. */
export interface FormulaContent extends ElementContent {
  /** As its source writes it: LaTeX, or `=SUM(A1:A4)`. */
  readonly expression: string;
  /** What it comes to. */
  readonly result?: TableCell;
}

/** `link`. */
export interface LinkContent extends ElementContent {
  /** What it is called. */
  readonly text: string;
  /** Where it leads. */
  readonly url: string;
}

/** `annotation`: a remark on something in the document. */
export interface AnnotationContent extends ElementContent {
  /** The remark. */
  readonly text: string;
  /** Whose it is. */
  readonly author?: string;
  /** ISO 8601. */
  readonly created_at?: string;
  /** The element that it is about. */
  readonly target_id?: string;
}

/** `header` and `footer`: what stands at the top or the bottom of the page. */
export interface MarginContent extends ElementContent {
  /** With its line breaks. */
  readonly text: string;
}

/** `separator`: says nothing by itself. */
export interface SeparatorContent extends ElementContent {
  /** Such as `line`, `page-break`. */
  readonly style?: string;
}

/** `audio` and `video`. */
export interface MediaContent extends ElementContent {
  /** Where it is. */
  readonly url?: string;
  /** What it is called. */
  readonly title?: string;
  /** What can be heard or seen in it. */
  readonly description?: string;
  /** The media type. */
  readonly mime_type?: string;
  /** How long it is, in seconds. */
  readonly duration?: number;
}

/** A field of a form. */
export interface FormField extends ElementContent {
  /** Unique within the form. */
  readonly name: string;
  /** For people. */
  readonly label?: string;
  /** Such as `text`, `checkbox`, `select`. */
  readonly type?: string;
  /** What is filled in. */
  readonly value?: unknown;
  /** Whether it has to be filled in. */
  readonly required?: boolean;
  /** What can be chosen from. */
  readonly options?: readonly string[];
}

/** `form`. */
export interface FormContent extends ElementContent {
  /** What it is for. */
  readonly title?: string;
  /** In their order. */
  readonly fields: readonly FormField[];
}

/** `widget`: a control of its own kind. */
export interface WidgetContent extends ElementContent {
  /** Such as `slider`, `calendar`. */
  readonly widget_type?: string;
  /** What it is called. */
  readonly title?: string;
  /** What it shows or is set to. */
  readonly state?: unknown;
}

/** The shape of the content for each of the 19 categories. */
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
  /** A remark. */
  annotation: AnnotationContent;
  /** The top of the page. */
  header: MarginContent;
  /** The bottom of the page. */
  footer: MarginContent;
  /** A separator. */
  separator: SeparatorContent;
  /** A sound. */
  audio: MediaContent;
  /** A film. */
  video: MediaContent;
  /** A form. */
  form: FormContent;
  /** A control. */
  widget: WidgetContent;
}

/** An element of one category. */
export interface DPEElementOf<Category extends ElementCategory> extends DPEElementDetail {
  /** Tells the shape of the content. */
  category: Category;
  /** What its category promises. */
  content: ElementContents[Category];
}

/**
 * An element whose content is what its category promises: a union that `category` tells apart. Every `DPEElement` is
 * a {@linkcode DPEElementDetail}, which is what arrives from strangers.
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
