/** `search` and `fetch` of ChatGPT over the documents. */
import {
  buildDpeUri,
  connectorResult,
  FETCH_SHAPE,
  fetchDocument,
  MAX_ROOM,
  pageNameOf,
  readableOf,
  SEARCH_SHAPE,
  toBareLine,
} from "@a2c-smcp/sdk/base";
import { TOOL_PATIENCE_MS } from "../search/search.ts";
import { type DocumentTool, makeTool, namedFiles, type ToolPlace } from "./document_tools.ts";
import { findNamed } from "./names.ts";
import { toExchange } from "./read_document.ts";

export function makeConnectorTools(place: ToolPlace): DocumentTool[] {
  return [searchTool(place), fetchTool(place)];
}

function searchTool(place: ToolPlace): DocumentTool {
  return makeTool({
    ...SEARCH_SHAPE,
    title: "Search documents",
    description:
      "Searches the text of all documents and gives the pages that fit best. Use words that the text would have. Read a result " +
      "with fetch.",
    async run(args, { signal }) {
      const query = args.text("query") ?? args.missing("query");
      const { hits, notice } = await place.catalogue.search(query, {
        limit: 20,
        patienceMs: TOOL_PATIENCE_MS,
        signal,
      });
      const results = hits.map(({ docRef, page, title, pageTitle, snippet }) => {
        const id = buildDpeUri({ host: place.catalogue.host, docRef, subPath: `pages/${page}` });
        const name = pageNameOf(pageTitle ?? "", title);
        return {
          id,
          title: toBareLine(name === "" ? title : `${title}: ${name}`),
          text: toBareLine(snippet),
          url: id,
        };
      });
      return connectorResult({ results, ...(notice === undefined ? {} : { notice }) });
    },
  });
}

function fetchTool(place: ToolPlace): DocumentTool {
  return makeTool({
    ...FETCH_SHAPE,
    title: "Read a document",
    description:
      "Reads a result of search as Markdown: that page and those after it, as much as fits. metadata.next is the id with which " +
      "to go on.",
    async run(args, { signal }) {
      const id = args.text("id") ?? args.missing("id");
      const { file: { docRef }, page, element } = findNamed(id, await namedFiles(place, signal));
      const { host } = place.catalogue;
      const idOf = (page?: number) =>
        buildDpeUri({ host, docRef, subPath: page === undefined ? undefined : `pages/${page}` });
      const readable = readableOf(place.catalogue, docRef, toExchange(signal));
      return connectorResult(
        await fetchDocument(readable, { id, idOf, start: page, element, maxRoom: MAX_ROOM }),
      );
    },
  });
}
