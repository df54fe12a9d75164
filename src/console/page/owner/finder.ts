/** The Finder: documents, their pages, and the elements of a page with tables and pictures. */
import { useState } from "preact/hooks";
import type { DocumentValue } from "../../../api_values.ts";
import { parseValue, recordOf, type Values } from "../kit/form.ts";
import { html } from "../kit/html.ts";
import { Facts, Failure, Pager, Table } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { Heading, type Row, Split } from "../kit/split.ts";
import { Line, Lines, Name, Picture, pictureOf, Prose, Uri, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";

const T = texts.finder;
/** The most documents that a Computer lists at a time. */
const LIMIT = 100;

export function Finder(): View {
  const [{ keyword, page }, setAsked] = useState({ keyword: "", page: 1 });
  const options = { limit: LIMIT, offset: (page - 1) * LIMIT, ...keyword !== "" && { keyword } };
  const { value, error } = useReading<{ documents: readonly DocumentValue[]; total_count?: number }>(
    "finder",
    {
      options,
      on: ["documents"],
    },
  );
  const { documents: items = [], total_count = 0 } = value ?? {};
  const pages = Math.ceil(total_count / LIMIT);
  const pager = html`<${Pager} page=${page} pages=${pages} onPage=${(page: number) =>
    setAsked({ keyword, page })} />`;
  return html`
    <${Split} path=${["sees", "finder"]} search=${T.search} error=${error} tools=${pages > 1 && pager}
      onSearch=${(keyword: string) => setAsked({ keyword, page: 1 })}
      lists=${[{
        title: T.title,
        items,
        none: value && T.none,
        row: rowOf,
        keyOf: ({ uri }: DocumentValue) => uri,
      }]}
      detail=${(document: DocumentValue) =>
        html`<${DocumentDetail} key=${document.uri} document=${document} />`} />
  `;
}

function rowOf({ title, file_type, page_count, server }: DocumentValue): Row {
  return [
    html`<${Line} text=${title} max=${120} />`,
    html`<${Name} text=${server} /> · ${T.pages(page_count)}`,
    html`<span class="badge"><${Line} text=${file_type} max=${12} /></span>`,
  ];
}

function DocumentDetail({ document }: { document: DocumentValue }): View {
  const [page, setPage] = useState(1);
  const { summary = "", keywords = [], uri, last_modified, page_count } = document;
  return html`
    <${Heading}>
      <${Line} text=${document.title} max=${160} />
      <//>
      <${Prose} text=${summary} />
      <${Facts} rows=${[
        [T.address, html`<${Uri} text=${uri} />`],
        [T.keywords, keywords.length === 0 ? null : html`<${Line} text=${keywords.join(", ")} />`],
        [T.changed, last_modified && html`<${Line} text=${last_modified} max=${40} />`],
      ]} />
      <${Pager} page=${page} pages=${page_count} onPage=${setPage} />
      <${Page} key=${page} uri=${`${uri}/pages/${page - 1}`} />
  `;
}

/** The most elements of a page, rows of a table and items of a list that are shown. */
const MAX_SHOWN = 200;
/** The most of them and of the cells of tables that one page shows together: a browser stands still over more. */
const MAX_PARTS = 20_000;

/** The first of some parts, as many as there is room for, and how many there are besides. */
type Take = <Part>(
  parts: readonly Part[],
  name: Parameters<typeof T.more>[1],
) => readonly [taken: readonly Part[], rest: View];

function partRoom(): Take {
  let left = MAX_PARTS;
  return (parts, name) => {
    const taken = parts.slice(0, Math.min(MAX_SHOWN, left));
    left -= taken.length;
    const rest = parts.length - taken.length;
    return [taken, rest > 0 && html`<p class="faint">${T.more(rest, name)}</p>`];
  };
}

function Page({ uri }: { uri: string }): View {
  const { value, error } = useReading<{ contents: readonly { readonly text?: string }[] }>("read", {
    arguments: [uri],
    on: ["documents"],
  });
  const { title = "", elements } = recordOf(parseValue(value?.contents[0]?.text ?? ""));
  const take = partRoom();
  const [shown, rest] = take(Array.isArray(elements) ? elements.map(recordOf) : [], "element");
  return html`
    <${Failure} text=${error} />
    <article class="card paper" aria-label=${T.pageContent}>
      <p class="faint"><${Line} text=${String(title)} /></p>
      ${shown.map((element) => elementView(element, take))}${rest}
      ${value !== undefined && shown.length === 0 && html`<p class="faint">${T.emptyPage}</p>`}</article>
  `;
}

function elementView(element: Values, take: Take): View {
  const category = String(element["category"]);
  const content = recordOf(element["content"]);
  const { text, headers, rows, items, code, data, mime_type, url } = content;
  if (category === "heading") {
    return html`
      <p class="heading">
        <${Line} text=${String(text)} />
      </p>
    `;
  }
  if (Array.isArray(headers) && Array.isArray(rows)) return tableView({ headers, rows }, take);
  if (Array.isArray(items)) return listView(content, take);
  if (typeof code === "string") {
    return html`
      <div class="card">
        <${Lines} text=${code} />
      </div>
    `;
  }
  if (category === "text" && typeof text === "string") return html`<${Prose} text=${text} max=${20_000} />`;
  const told = [element["summary"], content["title"], content["description"], content["data_summary"], text]
    .filter((each): each is string => typeof each === "string" && each !== "").slice(0, 2);
  const picture = pictureOf(mime_type, data);
  return html`<figure>${picture !== undefined && html`<${Picture} source=${picture} label=${told[0]} />`}
    <figcaption><span class="badge"><${Line} text=${category} max=${40} /></span>
      ${told.map((each) => html`<${Prose} text=${each} />`)}
      ${told.length === 0 && html`<${Lines} text=${JSON.stringify(content, null, 2)} />`}
      ${typeof url === "string" && html`<${Uri} text=${url} />`}</figcaption></figure>`;
}

function tableView(
  { headers, rows }: Readonly<Record<"headers" | "rows", readonly unknown[]>>,
  take: Take,
): View {
  const cell = (value: unknown) => html`<${Line} text=${String(value ?? "")} max=${500} />`;
  const [head, columns] = take(headers, "column");
  const [body, rest] = take(rows, "row");
  const shown = body.map((row, at) => [at, take(Array.isArray(row) ? row : [row], "column")[0].map(cell)]);
  return html`<${Table} label=${T.table} head=${head.map(cell)} rows=${shown} />${columns}${rest}`;
}

function listView({ items, ordered }: Values, take: Take): View {
  const [shown, rest] = take(Array.isArray(items) ? items : [], "item");
  const list = shown.map((item) => {
    const below = recordOf(item);
    return html`<li><${Line} text=${String(below["text"] ?? item)} max=${2_000} />
      ${Array.isArray(below["items"]) && listView(below, take)}</li>`;
  });
  return html`${ordered === true ? html`<ol>${list}</ol>` : html`<ul>${list}</ul>`}${rest}`;
}
