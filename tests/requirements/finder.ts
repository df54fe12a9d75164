import { type Requirement, section } from "./requirement.ts";

/** The requirements of `finder.md`: `dpe-…` for the URIs and the content model, `finder-…` for the rest. */
export const finder: readonly Requirement[] = [
  ...section("finder.md, 概述", {
    "finder-aggregate":
      "The Computer merges the dpe:// resources of all its MCP servers, unchanged standard ones, into one catalogue.",
  }),
  ...section("finder.md, DPE 数据模型 / 三层结构", {
    "dpe-opaque-ids": "`doc_ref` and element ids are opaque keys that the MCP server assigns.",
  }),
  ...section("finder.md, DPE 数据模型 / 元素类型", {
    "dpe-categories": "There are exactly 19 standard element types.",
  }),
  ...section("finder.md, dpe:// URI 协议 / 组成部分", {
    "dpe-uri-form": "A document URI is `dpe://{host}/{doc-ref}[/sub-path][?query-params]`.",
    "dpe-uri-doc-ref": "A doc-ref is URL-safe or URL-encoded.",
  }),
  ...section("finder.md, dpe:// URI 协议 / 四级渐进式寻址", {
    "dpe-level-0": "`dpe://host` addresses the catalogue of an MCP server.",
    "dpe-level-1": "`dpe://host/doc-ref` addresses a document's metadata and page index.",
    "dpe-level-2": "`dpe://host/doc-ref/pages/{N}` addresses the elements of a page.",
    "dpe-level-3": "`dpe://host/doc-ref/elements/{ID}` addresses one element.",
  }),
  ...section("finder.md, dpe:// URI 协议 / 查询参数", {
    "dpe-query-format":
      "`format` is accepted at all levels and is `json` when absent; Levels 2 and 3 have another form than JSON.",
    "dpe-query-depth": "`depth` applies to Level 1 and is `metadata` when absent.",
    "dpe-query-offset": "`offset` pages through the page index of Level 1 and is 0 when absent.",
    "dpe-query-limit": "`limit` bounds the page index of Level 1 and is 20 when absent.",
    "dpe-query-categories": "`categories` filters the elements of Level 2 and means all when absent.",
  }),
  ...section("finder.md, dpe:// URI 协议 / 校验规则", {
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
  ...section("finder.md, Finder 内容格式", {
    "dpe-content-level-0": "Level 0 answers `documents` and `total_count`.",
    "dpe-content-metadata": "Level 1 with `depth=metadata` answers the document's metadata without pages.",
    "dpe-content-pages":
      "Level 1 with `depth=pages` adds `pages`, `page_offset`, `page_limit` and `page_total`.",
    "dpe-content-level-2": "Level 2 answers the page with its `elements` and `element_count`.",
    "dpe-content-level-3":
      "Level 3 answers one element with doc_ref, page_index, uri, summary, content and metadata.",
  }),
  ...section("finder.md, Finder 内容格式 / Markdown 渲染规则", {
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
  ...section("finder.md, Finder Organizer 策略 / 步骤 1:过滤", {
    "finder-keyword-title": "A keyword found in the title keeps a document.",
    "finder-keyword-keywords": "A keyword found in the keyword list keeps a document.",
    "finder-keyword-summary": "A keyword found in the summary keeps a document.",
    "finder-keyword-any": "One keyword that is found anywhere is enough.",
    "finder-file-type": "`file_type` keeps exactly the documents of that type.",
    "finder-filter-uri": "Documents whose URI is not a valid dpe:// URI are left out.",
  }),
  ...section("finder.md, Finder Organizer 策略 / 步骤 2:MCP Server 优先级排序", {
    "finder-server-recent":
      "MCP servers are ordered by their last tool call, the most recent first, each once.",
    "finder-server-rest": "MCP servers without a tool call follow in the order of their names.",
  }),
  ...section("finder.md, Finder Organizer 策略 / 步骤 3:Server 内排序", {
    "finder-modified-order": "Documents of one MCP server are ordered by last_modified, the latest first.",
    "finder-modified-missing": "Documents without last_modified come last within their MCP server.",
  }),
  ...section("finder.md, Finder Organizer 策略 / 步骤 4:分页", {
    "finder-offset": "`offset` is where the result starts and is 0 when absent.",
    "finder-limit": "`limit` is how many documents are returned: 20 when absent, 100 at most.",
  }),
  ...section("finder.md, 更新机制", {
    "finder-list-differs":
      "After a list change the finder is refreshed when the set of dpe:// URIs differs from the last one.",
    "finder-list-same": "After a list change with the same set of dpe:// URIs nothing is sent.",
    "finder-list-same-logged": "A list change with the same set of dpe:// URIs is told in the log alone.",
    "finder-updated-document":
      "An update of a dpe:// resource refreshes the finder at once, without comparing sets.",
    "finder-updated-other": "An update of a resource of another scheme does not refresh the finder.",
    "finder-update-shape": "Both update events carry `UpdateComputerConfigReq`.",
    "finder-agent-refresh": "An Agent should fetch the catalogue anew after `notify:update_finder`.",
  }),
  ...section("finder.md, 完整通知链时序图", {
    "finder-flow-pull": "`client:get_finder` goes Agent, Server, Computer and its answer back the same way.",
    "finder-flow-list":
      "A document that comes or goes reaches the Agent as a notification and is in the catalogue fetched next.",
    "finder-flow-content":
      "A document that changes reaches the Agent as a notification and shows its new metadata.",
  }),
  ...section("finder.md, Agent 端导航", {
    "finder-no-builtin-tools": "The Computer registers no built-in navigation tools of its own.",
    "finder-read-parsed":
      "An Agent that reads a document, a page or an element gets the parsed object: by the navigation helpers, beside MCP's own answer.",
    "finder-walk":
      "All pages of a document can be read as Markdown from its uri and page_count (`content_markdown`).",
  }),
  ...section("finder.md, MCP Server 实现指南", {
    "finder-needs-subscribe":
      "Documents of an MCP server without the `resources.subscribe` capability are not listed.",
    "finder-provide-list": "An MCP server lists one Level 1 resource for each document.",
    "finder-provide-templates": "An MCP server declares templates for pages and for elements.",
    "finder-templates-discovered": "A Computer lists the templates of its MCP servers, all pages of them.",
    "finder-templates-agent":
      "An Agent discovers the templates, and reads the sub-resources that they lead to.",
    "finder-provide-list-changed": "An MCP server sends a list change when a document comes or goes.",
    "finder-provide-updated":
      "An MCP server sends an update with the document's URI when its contents change.",
    "finder-provide-categories": "An MCP server applies `categories` at Level 2.",
  }),
  ...section("finder.md, MCP Server 实现指南 / 自动补全(可选)", {
    "finder-complete-doc-ref":
      "Completion of `doc_ref` offers the documents whose key starts with the given text.",
    "finder-complete-page":
      "Completion of `page_index` offers the valid page numbers of the chosen document.",
    "finder-complete-element": "Completion of `element_id` offers the element ids of the chosen document.",
    "finder-complete-client": "An Agent gets suggestions for the parameters of a template.",
    "finder-complete-optional": "An MCP server without completion takes part in the finder all the same.",
  }),
];
