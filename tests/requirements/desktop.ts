import { type Requirement, section } from "./requirement.ts";

/** The requirements of `docs/protocol/desktop.md`, and on hosts. */
export const desktop: readonly Requirement[] = [
  ...section("docs/protocol/desktop.md#overview", {
    "desktop-aggregate":
      "The Computer merges the window:// resources of all its MCP servers, unchanged standard ones, into one desktop.",
  }),
  ...section("docs/protocol/desktop.md#uri-form", {
    "desktop-uri-form": "A window URI is `window://host` followed by zero or more path segments.",
    "desktop-host-style": {
      text: "A host in reverse-domain style is recommended.",
      missing: "advice to authors of MCP servers; nothing to enforce",
    },
  }),
  ...section("docs/protocol/desktop.md#uri-rules", {
    "desktop-uri-scheme": "The scheme of a window URI must be `window`.",
    "desktop-uri-host": "The host of a window URI must not be empty.",
    "desktop-uri-encoded-slash":
      "Path segments are URL-encoded one by one: `c%2Fd` stays one segment and decodes to `c/d`.",
    "desktop-uri-query":
      "A query in a window URI is dropped with a warning, and host and path alone identify the window.",
    "desktop-host-conflict":
      "A host that two MCP servers claim, in window or document URIs, is a warning at registration and does not block it.",
  }),
  ...section("docs/protocol/resources.md#host-ownership", {
    "dpe-host-owner":
      "`client:get_dpe`, like every read, finds the MCP server of a URI by the host, which one server owns.",
  }),
  ...section("docs/protocol/finder.md#fetching-a-file", {
    "dpe-get-host":
      "`client:get_dpe` reaches the MCP server that has the document's host, and answers where the document can be fetched.",
  }),
  ...section("docs/protocol/desktop.md#uri-examples", {
    "desktop-build-bare": "A host with no segments builds the bare URI `window://host`.",
    "desktop-build-special":
      "A host and several segments, with slashes and spaces inside, survive building and parsing.",
  }),
  ...section("docs/protocol/desktop.md#window-metadata", {
    "desktop-meta-source": "Layout comes from `annotations` and `_meta`, never from the URI's query.",
    "desktop-meta-annotations":
      "Who writes a window puts `priority`, `audience` and `lastModified` into `annotations`, and what is not MCP's, such as `fullscreen`, into `_meta`.",
  }),
  ...section("docs/protocol/desktop.md#annotations", {
    "desktop-audience-assistant": 'A window should declare the audience `["assistant"]`.',
    "desktop-last-modified":
      "`annotations.lastModified` is passed on and does not take part in the ordering.",
  }),
  ...section("docs/protocol/desktop.md#metadata-rules", {
    "desktop-priority-range": "A priority outside [0.0, 1.0] counts as 0.0 with a warning.",
    "desktop-fullscreen-type": "A `_meta.fullscreen` that is not a boolean counts as false with a warning.",
    "desktop-audience-user":
      'A window for `["user"]` alone is reported with a warning and kept in the desktop.',
    "desktop-annotations-mcp":
      "Annotations follow the MCP specification: those that do not are reported, and the window stays.",
    "desktop-missing-priority":
      "Absent annotations and an absent or null priority mean the same: 0.0, without a warning.",
    "desktop-missing-fullscreen":
      "An absent `_meta` and an absent or null fullscreen mean the same: false, without a warning.",
  }),
  ...section("docs/protocol/desktop.md#rendering-rules", {
    "desktop-render-text": "A window with text is rendered as `{URI}\\n\\n{body}`.",
    "desktop-render-join": "The body joins all text contents of the window with `\\n\\n`.",
    "desktop-render-no-text": "A window without text is rendered as its URI alone.",
    "desktop-render-blob": "Blob contents are skipped with a warning.",
    "desktop-render-pure-uri":
      "The URI of a desktop entry carries no query such as `?priority=` or `?fullscreen=`.",
  }),
  ...section("docs/protocol/desktop.md#filter-and-group", {
    "desktop-filter-empty": "Windows whose contents are empty or absent are left out.",
    "desktop-filter-uri": "Windows whose URI is not a valid window:// URI are left out.",
    "desktop-filter-blob": "Windows with blob contents only are left out.",
    "desktop-group": "Windows are grouped by the name of their MCP server, whatever their hosts.",
  }),
  ...section("docs/protocol/desktop.md#server-order", {
    "desktop-server-recent":
      "MCP servers are ordered by their last tool call, the most recent first, each once.",
    "desktop-server-rest": "MCP servers without a tool call follow in the order of their names.",
  }),
  ...section("docs/protocol/desktop.md#window-order", {
    "desktop-priority-order": "Windows of one MCP server are ordered by priority, the highest first.",
  }),
  ...section("docs/protocol/desktop.md#fullscreen-windows", {
    "desktop-fullscreen-first":
      "Of several fullscreen windows the one first in the MCP server's resource list is kept.",
    "desktop-fullscreen-alone": "A fullscreen window excludes all other windows of its MCP server.",
    "desktop-fullscreen-per-server": "A fullscreen window does not touch the windows of other MCP servers.",
  }),
  ...section("docs/protocol/desktop.md#size-limit", {
    "desktop-size-none": "Without a size all windows are returned.",
    "desktop-size-zero": "A size of zero or less returns an empty list.",
    "desktop-size-cap": "A size above zero caps the windows of all MCP servers together.",
  }),
  ...section("docs/protocol/desktop.md#list-changes", {
    "desktop-list-differs":
      "After a list change the desktop is refreshed when the set of window:// URIs differs from the last one.",
    "desktop-list-same": "After a list change with the same set of window:// URIs nothing is sent.",
    "desktop-list-same-logged": "A list change with the same set of window:// URIs is told in the log alone.",
  }),
  ...section("docs/protocol/desktop.md#content-updates", {
    "desktop-updated-window":
      "An update of a window:// resource refreshes the desktop at once, without comparing sets.",
    "desktop-updated-other": "An update of a resource of another scheme does not refresh the desktop.",
  }),
  ...section("docs/protocol/desktop.md#update-events", {
    "desktop-update-shape": "Both update events carry `UpdateComputerConfigReq`.",
    "desktop-agent-refresh": "An Agent should fetch the desktop anew after `notify:update_desktop`.",
  }),
  ...section("docs/protocol/desktop.md#fetch-flow", {
    "desktop-flow-pull":
      "`client:get_desktop` goes Agent, Server, Computer and its answer back the same way.",
  }),
  ...section("docs/protocol/desktop.md#list-change-flow", {
    "desktop-flow-list":
      "A window that comes or goes reaches the Agent as a notification and is in the desktop fetched next.",
  }),
  ...section("docs/protocol/desktop.md#content-change-flow", {
    "desktop-flow-content":
      "A window whose contents change reaches the Agent as a notification and shows the new contents.",
  }),
  ...section("docs/protocol/desktop.md#required-capability", {
    "desktop-needs-subscribe":
      "Windows of an MCP server without the `resources.subscribe` capability are not listed.",
  }),
  ...section("docs/protocol/desktop.md#listing-windows", {
    "desktop-provide-list":
      "An MCP server lists each window with a valid URI, its annotations and its `_meta`.",
  }),
  ...section("docs/protocol/desktop.md#reading-windows", {
    "desktop-provide-read": "An MCP server answers `resources/read` of a window with text contents.",
  }),
  ...section("docs/protocol/desktop.md#announcing-changes", {
    "desktop-provide-list-changed": "An MCP server sends a list change when a window comes or goes.",
    "desktop-provide-updated":
      "An MCP server sends an update with the window's URI when its contents change.",
  }),
];
