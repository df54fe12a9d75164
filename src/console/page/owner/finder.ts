/** The Finder: documents, their pages, and the elements of a page with tables and pictures. */
import { html } from "../kit/html.ts";
import { useState } from "preact/hooks";
import { recordOf } from "../kit/form.ts";
import { Listbox } from "../kit/listbox.ts";
import { Button, Empty, Facts, Failure, focusDetail, goTo, Heading, Search, Split } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { route } from "../kit/route.ts";
import { Line, Lines, Name, Prose, Uri, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { pictureOf } from "./tools.ts";

const T = texts.finder;
const LIMIT = 100;

interface Document {
  readonly uri: string;
  readonly title: string;
  readonly file_type: string;
  readonly page_count: number;
  readonly summary?: string;
  readonly keywords?: readonly string[];
  readonly last_modified?: string;
  readonly server: string;
}

export function Finder(): View {
  const [words, setWords] = useState("");
  const [offset, setOffset] = useState(0);
  const { value, error } = useReading<{ documents: readonly Document[]; total_count?: number }>("finder", {
    options: { limit: LIMIT, offset, ...words === "" ? {} : { keyword: words } },
    on: ["documents"],
  });
  const documents = value?.documents ?? [];
  const total = value?.total_count ?? documents.length;
  const [, , uri] = route.value;
  const chosen = documents.find((document) => document.uri === uri) ?? documents[0];
  return html`
    <${Split} back=${uri === undefined ? undefined : ["sees", "finder"]}
      list=${html`
        <div class="tools">
          <${Search} label=${T.search} value=${words} onInput=${(text: string) => {
            setWords(text);
            setOffset(0);
          }} />
        </div><${Failure} text=${error} />
              ${value !== undefined && documents.length === 0 && html`<${Empty} title=${T.none} />`}
              <${Listbox} label=${T.title} items=${documents} keyOf=${(document: Document) =>
                document.uri} chosen=${chosen?.uri} onOpen=${focusDetail}
          rowHeight=${56}
          onChoose=${(each: string) => goTo(["sees", "finder", each], { isStep: false })} row=${(
            document: Document,
          ) => html`<${Row} document=${document} />`} />
              ${total > LIMIT &&
                html`<p class="pager"><span>${T.range(offset + 1, offset + documents.length, total)}</span>
        <${Button} isOff=${offset === 0} onPress=${() =>
                  setOffset(offset - LIMIT)}>${texts.now.previousPage}<//>
        <${Button} isOff=${offset + LIMIT >= total} onPress=${() =>
                  setOffset(offset + LIMIT)}>${texts.now.nextPage}<//></p>`}
      `}
      detail=${chosen && html`<${DocumentDetail} key=${chosen.uri} document=${chosen} />`} />
  `;
}

function Row({ document: { title, file_type, page_count, server } }: { document: Document }): View {
  return html`
    <span class="stack grow"><strong class="cut"><${Line} text=${title} max=${120} /></strong>
        <small class="faint cut"><${Name} text=${server} /> · ${T.pages(page_count)}</small></span>
    <span class="badge"><${Line} text=${file_type} max=${12} /></span>
  `;
}

interface Read {
  readonly contents: readonly { readonly text?: string }[];
}

/** The value of a document, page or element that was read; empty when it is none. */
function valueOf(read: Read | undefined): Readonly<Record<string, unknown>> {
  try {
    return recordOf(JSON.parse(read?.contents[0]?.text ?? "{}"));
  } catch {
    return {};
  }
}

function DocumentDetail({ document }: { document: Document }): View {
  const [page, setPage] = useState(0);
  const { summary, keywords = [], uri, last_modified, page_count } = document;
  return html`<${Heading}><${Line} text=${document.title} max=${160} /><//>
    ${summary !== undefined && html`<${Prose} text=${summary} />`}
    <${Facts} rows=${[
    [T.address, html`<${Uri} text=${uri} />`],
    [T.keywords, keywords.length === 0 ? null : html`<${Line} text=${keywords.join(", ")} />`],
    [T.changed, last_modified === undefined ? null : html`<${Line} text=${last_modified} max=${40} />`],
  ]} />
    <p class="pager"><span>${T.page(page + 1, page_count)}</span>
      <${Button} isOff=${page === 0} onPress=${() => setPage(page - 1)}>${texts.now.previousPage}<//>
      <${Button} isOff=${page + 1 >= page_count} onPress=${() =>
    setPage(page + 1)}>${texts.now.nextPage}<//></p>
    <${Page} key=${page} uri=${`${uri}/pages/${page}`} />`;
}

/** The most elements of a page, rows of a table and items of a list that are shown. */
const MAX_SHOWN = 200;
/** The most of them and of the cells of tables that one page shows together: a browser stands still over more. */
const MAX_PARTS = 20_000;

/** What a page may still show. */
class PartRoom {
  #left = MAX_PARTS;

  /** The first of these, as many as there is room for. */
  take<Part>(parts: readonly Part[]): readonly Part[] {
    const taken = parts.slice(0, Math.min(MAX_SHOWN, this.#left));
    this.#left -= taken.length;
    return taken;
  }
}

function Page({ uri }: { uri: string }): View {
  const { value, error } = useReading<Read>("read", { arguments: [uri], on: ["documents"] });
  const { title, elements } = valueOf(value);
  const room = new PartRoom();
  const shown = Array.isArray(elements) ? room.take(elements).map(recordOf) : [];
  return html`
    <${Failure} text=${error} />
    <article class="paper" aria-label=${T.pageContent}>${typeof title === "string" && html`
      <p class="faint">
        <${Line} text=${title} />
      </p>
    `}
          ${shown.map((element, index) => html`<${Element} key=${index} element=${element} room=${room} />`)}
          ${Array.isArray(elements) && elements.length > shown.length &&
            html`<p class="faint">${T.moreElements(elements.length - shown.length)}</p>`}
          ${value !== undefined && shown.length === 0 && html`<p class="faint">${T.emptyPage}</p>`}</article>
  `;
}

interface ElementProps {
  readonly element: Readonly<Record<string, unknown>>;
  readonly room: PartRoom;
}

function Element({ element, room }: ElementProps): View {
  const category = String(element["category"]);
  const content = recordOf(element["content"]);
  const { text, headers, rows, items, code, ordered, data, mime_type } = content;
  if (category === "heading") {
    return html`
      <p class="heading">
        <${Line} text=${String(text)} />
      </p>
    `;
  }
  if (Array.isArray(headers) && Array.isArray(rows)) {
    return html`<${Table} headers=${headers} rows=${rows} room=${room} />`;
  }
  if (Array.isArray(items)) {
    return html`<${List} items=${items} isOrdered=${ordered === true} room=${room} />`;
  }
  if (typeof code === "string") {
    return html`
      <div class="card">
        <${Lines} text=${code} />
      </div>
    `;
  }
  if (category === "text" && typeof text === "string") {
    return html`<${Prose} text=${text} max=${20_000} />`;
  }
  const picture = pictureOf(mime_type, data);
  const told = [element["summary"], content["title"], content["description"], content["data_summary"], text]
    .filter((each): each is string => typeof each === "string" && each !== "");
  return html`<figure>${picture !== undefined && html`<img src=${picture} alt=${told[0] ?? T.picture} />`}
    <figcaption><span class="badge"><${Line} text=${category} max=${40} /></span> ${
    told.slice(0, 2).map((each) => html`<${Prose} text=${each} />`)
  }
      ${told.length === 0 && html`<${Lines} text=${JSON.stringify(content, null, 2)} />`}
      ${typeof content["url"] === "string" && html`<${Uri} text=${content["url"]} />`}</figcaption></figure>`;
}

interface TableProps {
  readonly headers: readonly unknown[];
  readonly rows: readonly unknown[];
  readonly room: PartRoom;
}

function Table({ headers, rows, room }: TableProps): View {
  const cell = (value: unknown) =>
    value === null || value === undefined ? "" : html`<${Line} text=${String(value)} max=${500} />`;
  const head = room.take(headers);
  const body = room.take(rows).map((row) => room.take(Array.isArray(row) ? row : [row]));
  return html`<div class="table" tabindex="0" role="group" aria-label=${T.table}><table>
    <thead><tr>${head.map((each) => html`<th scope="col">${cell(each)}</th>`)}</tr></thead>
    <tbody>${
    body.map((row) =>
      html`<tr>${
        row.map((each) =>
          html`<td class=${/^[\s\d.,+−%€$-]+$/.test(String(each)) ? "figure" : ""}>${cell(each)}</td>`
        )
      }</tr>`
    )
  }</tbody></table>
    ${
    headers.length > head.length &&
    html`<p class="faint">${T.moreColumns(headers.length - head.length)}</p>`
  }
    ${
    rows.length > body.length && html`<p class="faint">${T.moreRows(rows.length - body.length)}</p>`
  }</div>`;
}

interface ListProps {
  readonly items: readonly unknown[];
  readonly isOrdered: boolean;
  readonly room: PartRoom;
}

function List({ items, isOrdered, room }: ListProps): View {
  const shown = room.take(items).map((item) => {
    const { text = item, items: below, ordered } = recordOf(item);
    return html`<li><${Line} text=${String(text)} max=${2_000} />
      ${
      Array.isArray(below) && html`<${List} items=${below} isOrdered=${ordered === true} room=${room} />`
    }</li>`;
  });
  return (isOrdered ? html`<ol>${shown}</ol>` : html`<ul>${shown}</ul>`);
}
