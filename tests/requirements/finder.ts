import { type Requirement, section } from "./requirement.ts";

/** The requirements of `docs/protocol/finder.md`: `dpe-…` for the URIs and the content model, `finder-…` for the rest. */
export const finder: readonly Requirement[] = [
  ...section("docs/protocol/finder.md#overview", {
    "finder-aggregate":
      "The Computer merges the dpe:// resources of all its MCP servers, unchanged standard ones, into one list.",
  }),
  ...section("docs/protocol/finder.md#content-model", {
    "dpe-opaque-ids": "`doc_ref` and element ids are opaque keys that the MCP server assigns.",
  }),
  ...section("docs/protocol/finder.md#element-categories", {
    "dpe-categories": "There are exactly 19 standard element types.",
  }),
  ...section("docs/protocol/finder.md#uri-form", {
    "dpe-uri-form": "A document URI is `dpe://{host}/{doc-ref}[/sub-path][?query-params]`.",
    "dpe-uri-doc-ref": "A doc-ref is URL-safe or URL-encoded.",
  }),
  ...section("docs/protocol/finder.md#levels", {
    "dpe-level-0": "`dpe://host` addresses the catalogue of an MCP server.",
    "dpe-level-1": "`dpe://host/doc-ref` addresses a document's metadata and page index.",
    "dpe-level-2": "`dpe://host/doc-ref/pages/{N}` addresses the elements of a page.",
    "dpe-level-3": "`dpe://host/doc-ref/elements/{ID}` addresses one element.",
  }),
  ...section("docs/protocol/finder.md#query-parameters", {
    "dpe-query-format":
      "`format` is accepted at all levels and is `json` when absent; Levels 2 and 3 have another form than JSON.",
    "dpe-query-depth": "`depth` applies to Level 1 and is `metadata` when absent.",
    "dpe-query-offset": "`offset` pages through the page index of Level 1 and is 0 when absent.",
    "dpe-query-limit": "`limit` bounds the page index of Level 1 and is 20 when absent.",
    "dpe-query-categories": "`categories` filters the elements of Level 2 and means all when absent.",
  }),
  ...section("docs/protocol/finder.md#validation-rules", {
    "dpe-rule-scheme": "The scheme must be `dpe`.",
    "dpe-rule-host": "The host must not be empty.",
    "dpe-rule-sub-path":
      "A sub-path must be `pages/{non-negative integer}` or `elements/{non-empty string}`.",
    "dpe-rule-format": "`format` must be `json`, `markdown` or `text`.",
    "dpe-rule-depth": "`depth` must be `metadata` or `pages`.",
    "dpe-rule-offset": "`offset` must be a non-negative integer.",
    "dpe-rule-limit": "`limit` must be an integer in [1, 100].",
    "dpe-rule-categories": "`categories` must be a comma-separated list of standard element types.",
  }),
  ...section("docs/protocol/finder.md#level-0-catalogue", {
    "dpe-content-level-0": "Level 0 answers `documents` and `total_count`.",
  }),
  ...section("docs/protocol/finder.md#level-1-document", {
    "dpe-content-metadata": "Level 1 with `depth=metadata` answers the document's metadata without pages.",
    "dpe-content-pages":
      "Level 1 with `depth=pages` adds `pages`, `page_offset`, `page_limit` and `page_total`.",
  }),
  ...section("docs/protocol/finder.md#level-2-page", {
    "dpe-content-level-2": "Level 2 answers the page with its `elements` and `element_count`.",
  }),
  ...section("docs/protocol/finder.md#level-3-element", {
    "dpe-content-level-3":
      "Level 3 answers one element with doc_ref, page_index, uri, summary, content and metadata.",
  }),
  ...section("docs/protocol/finder.md#markdown-rendering", {
    "dpe-markdown-heading": "A heading is rendered with as many `#` as its level.",
    "dpe-markdown-text": "A text is rendered as it is, with its paragraphs.",
    "dpe-markdown-table": "A table is rendered as a Markdown table.",
    "dpe-markdown-list": "A list is rendered with `1.` when ordered and with `-` when not.",
    "dpe-markdown-code": "Code is rendered as a fenced block.",
    "dpe-markdown-chart": "A chart is rendered as `[图表: {title}] {data_summary}`.",
    "dpe-markdown-image": "An image is rendered as a Markdown image or as `[图片: {description}]`.",
    "dpe-markdown-link": "A link is rendered as `[{text}]({url})`.",
    "dpe-markdown-formula": "A formula is rendered as `$ {expression} $`.",
    "dpe-markdown-other": "Any other type is rendered as `[{category}: {summary}]`.",
  }),
  ...section("docs/protocol/finder.md#filters", {
    "finder-keyword-title": "A keyword found in the title keeps a document.",
    "finder-keyword-keywords": "A keyword found in the keyword list keeps a document.",
    "finder-keyword-summary": "A keyword found in the summary keeps a document.",
    "finder-keyword-any": "One keyword that is found anywhere is enough.",
    "finder-file-type": "`file_type` keeps exactly the documents of that type.",
    "finder-filter-uri": "Documents whose URI is not a valid dpe:// URI are left out.",
  }),
  ...section("docs/protocol/finder.md#server-order", {
    "finder-server-recent":
      "MCP servers are ordered by their last tool call, the most recent first, each once.",
    "finder-server-rest": "MCP servers without a tool call follow in the order of their names.",
  }),
  ...section("docs/protocol/finder.md#document-order", {
    "finder-modified-order": "Documents of one MCP server are ordered by last_modified, the latest first.",
    "finder-modified-missing": "Documents without last_modified come last within their MCP server.",
  }),
  ...section("docs/protocol/finder.md#pagination", {
    "finder-offset": "`offset` is where the result starts and is 0 when absent.",
    "finder-limit": "`limit` is how many documents are returned: 20 when absent, 100 at most.",
  }),
  ...section("docs/protocol/finder.md#list-changes", {
    "finder-list-differs":
      "After a list change the finder is refreshed when the set of dpe:// URIs differs from the last one.",
    "finder-list-same": "After a list change with the same set of dpe:// URIs nothing is sent.",
    "finder-list-same-logged": "A list change with the same set of dpe:// URIs is told in the log alone.",
  }),
  ...section("docs/protocol/finder.md#content-updates", {
    "finder-updated-document":
      "An update of a dpe:// resource refreshes the finder at once, without comparing sets.",
    "finder-updated-other": "An update of a resource of another scheme does not refresh the finder.",
  }),
  ...section("docs/protocol/finder.md#update-events", {
    "finder-update-shape": "Both update events carry `UpdateComputerConfigReq`.",
    "finder-agent-refresh": "An Agent should fetch the list of documents again after `notify:update_finder`.",
  }),
  ...section("docs/protocol/finder.md#flows", {
    "finder-flow-pull": "`client:get_finder` goes Agent, Server, Computer and its answer back the same way.",
    "finder-flow-list":
      "A document that comes or goes reaches the Agent as a notification and is in the list fetched next.",
    "finder-flow-content":
      "A document that changes reaches the Agent as a notification and shows its new metadata.",
  }),
  ...section("docs/protocol/finder.md#no-built-in-tools", {
    "finder-no-builtin-tools": "The Computer registers no built-in navigation tools of its own.",
  }),
  ...section("docs/protocol/finder.md#navigation-helpers", {
    "finder-read-parsed":
      "An Agent that reads a document, a page or an element gets the parsed object: by the navigation helpers, beside MCP's own answer.",
    "finder-walk":
      "All pages of a document can be read as Markdown from its uri and page_count (`content_markdown`).",
  }),
  ...section("docs/protocol/finder.md#required-capability", {
    "finder-needs-subscribe":
      "Documents of an MCP server without the `resources.subscribe` capability are not listed.",
  }),
  ...section("docs/protocol/finder.md#listing-documents", {
    "finder-provide-list": "An MCP server lists one Level 1 resource for each document.",
  }),
  ...section("docs/protocol/finder.md#document-templates", {
    "finder-provide-templates": "An MCP server declares templates for pages and for elements.",
    "finder-templates-discovered": "A Computer lists the templates of its MCP servers, all pages of them.",
    "finder-templates-agent":
      "An Agent discovers the templates, and reads the sub-resources that they lead to.",
  }),
  ...section("docs/protocol/finder.md#announcing-changes", {
    "finder-provide-list-changed": "An MCP server sends a list change when a document comes or goes.",
    "finder-provide-updated":
      "An MCP server sends an update with the document's URI when its contents change.",
  }),
  ...section("docs/protocol/finder.md#serving-content", {
    "finder-provide-categories": "An MCP server applies `categories` at Level 2.",
  }),
  ...section("docs/protocol/finder.md#completion", {
    "finder-complete-doc-ref":
      "Completion of `doc_ref` offers the documents whose key starts with the given text.",
    "finder-complete-page":
      "Completion of `page_index` offers the valid page numbers of the chosen document.",
    "finder-complete-element": "Completion of `element_id` offers the element ids of the chosen document.",
    "finder-complete-client": "An Agent gets suggestions for the parameters of a template.",
    "finder-complete-optional": "An MCP server without completion takes part in the finder all the same.",
  }),
];
