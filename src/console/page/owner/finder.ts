/** The Finder: documents, their pages, and what is on a page. */
import { useState } from "preact/hooks";
import type { DocumentValue } from "../../../api_values.ts";
import { readContent } from "../../../dpe/content.ts";
import { summaryOf, toPlainText } from "../../../dpe/plain_text.ts";
import { renderElementText } from "../../../dpe/text.ts";
import type { DPEPage } from "../../../protocol/dpe.ts";
import type { TableContent } from "../../../protocol/dpe_content.ts";
import { parseValue, recordOf } from "../kit/form.ts";
import { factsOf, Pager, Table } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { headingOf, type Row, Split } from "../kit/split.ts";
import {
  failureOf,
  html,
  lineOf,
  linesOf,
  nameOf,
  pictureOf,
  proseOf,
  uriOf,
  type View,
} from "../kit/words.ts";
import { texts } from "../texts.ts";

const T = texts.finder;
/** The most documents that a Computer lists at a time. */
const LIMIT = 100;

export function Finder(): View {
  const [{ keyword, page }, setAsked] = useState({ keyword: "", page: 1 });
  const options = { limit: LIMIT, offset: (page - 1) * LIMIT, ...keyword !== "" && { keyword } };
  const { value, error } = useReading<{ documents: readonly DocumentValue[]; total_count?: number }>(
    "finder",
    { options, on: ["documents"] },
  );
  const { documents: items = [], total_count: all = 0 } = value ?? {};
  const pages = Math.ceil(all / LIMIT);
  const onPage = (page: number) => setAsked({ keyword, page });
  const keyOf = ({ uri }: DocumentValue) => uri;
  return html`
    <${Split} path=${["sees", "finder"]} search=${T.search} error=${error}
      tools=${pages > 1 && html`<${Pager} page=${page} pages=${pages} onPage=${onPage} />`}
      onSearch=${(keyword: string) => setAsked({ keyword, page: 1 })}
      lists=${[{ title: T.title, items, all, none: value && T.none, row: rowOf, keyOf }]}
      detail=${(each: DocumentValue) => html`<${DocumentDetail} key=${each.uri} document=${each} />`} />
  `;
}

function rowOf({ title, file_type, page_count, uri, file_uri }: DocumentValue): Row {
  return [
    lineOf(title, 120),
    // There is room for the name of a file and of its folder.
    html`${T.pages(page_count)} · ${uriOf((file_uri ?? uri).split("/").slice(-2).join("/"))}`,
    html`<span class="badge">${lineOf(file_type, 12)}</span>`,
  ];
}

function DocumentDetail({ document }: { document: DocumentValue }): View {
  const [page, setPage] = useState(1);
  const { title, summary = "", keywords = [], uri, file_uri, last_modified, page_count, server } = document;
  return html`
    ${headingOf(lineOf(title, 160))}${proseOf(summary)}
    ${factsOf([
      [T.address, uriOf(uri)],
      [T.file, file_uri && uriOf(file_uri)],
      [texts.history.server, nameOf(server)],
      [T.keywords, keywords.length > 0 && lineOf(keywords.join(", "))],
      [T.changed, last_modified && lineOf(last_modified, 40)],
    ])}
    <${Pager} page=${page} pages=${page_count} onPage=${setPage} />
    <${Page} key=${page} uri=${`${uri}/pages/${page - 1}`} />
  `;
}

/** The most elements of a page, rows of a table, and columns that are shown. */
const MAX_SHOWN = 200;
/** The most cells that the tables of one page show together: a browser stands still over more. */
const MAX_CELLS = 20_000;

/** The cells for which a page still has room. */
interface Room {
  cells: number;
}

function Page({ uri }: { uri: string }): View {
  const { value, error } = useReading<{ contents: readonly { readonly text?: string }[] }>("read", {
    arguments: [uri],
    on: ["documents"],
  });
  const { title = "", elements }: Partial<DPEPage> = recordOf(parseValue(value?.contents[0]?.text ?? ""));
  const all = Array.isArray(elements) ? elements : [];
  const room: Room = { cells: MAX_CELLS };
  return html`
    ${failureOf(error)}
    <article class="card paper" aria-label=${T.pageContent}>
      <p class="faint">${lineOf(String(title))}</p>
      ${all.slice(0, MAX_SHOWN).map((element) => elementView(element, room))}
      ${moreOf(all.length - MAX_SHOWN, "element")}
      ${value !== undefined && all.length === 0 && html`<p class="faint">${T.emptyPage}</p>`}</article>
  `;
}

function moreOf(rest: number, part: Parameters<typeof T.more>[1]): View {
  return rest > 0 && html`<p class="faint">${T.more(rest, part)}</p>`;
}

/** An element as the Agent reads it as text; a table, a picture and a summary are drawn. */
function elementView(element: DPEPage["elements"][number], room: Room): View {
  const typed = readContent(element);
  switch (typed?.category) {
    case "table":
    case "pivot_table":
      return tableView(typed.content, room);
    case "heading":
      return html`<p class="heading">${lineOf(typed.content.text)}</p>`;
    case "code":
      return html`<div class="card">${linesOf(typed.content.code)}</div>`;
    case "text":
    case "list":
    case "formula":
    case "link":
      return proseOf(renderElementText(element), 20_000);
  }
  const { category, summary } = summaryOf(element);
  const { data, mime_type, data_summary } = recordOf(typed?.content);
  return html`<figure>${pictureOf(mime_type, data, summary)}
    <figcaption><span class="badge">${lineOf(category, 40)}</span>${proseOf(summary)}${
    typeof data_summary === "string" && proseOf(data_summary)
  }</figcaption></figure>`;
}

function tableView({ headers, rows }: TableContent, room: Room): View {
  const cell = (value: unknown) => lineOf(toPlainText(value), 500);
  const widest = rows.reduce((most, row) => Math.max(most, row.length), headers.length);
  const width = Math.max(1, Math.min(MAX_SHOWN, widest));
  const shown = Math.min(MAX_SHOWN, Math.floor(room.cells / width));
  const body = rows.slice(0, shown).map((row, at) => [at, row.slice(0, width).map(cell)]);
  room.cells -= body.length * width;
  return html`<${Table} label=${T.table} head=${headers.slice(0, width).map(cell)} rows=${body} />
    ${moreOf(widest - width, "column")}${moreOf(rows.length - body.length, "row")}`;
}
