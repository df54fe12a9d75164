import { type Requirement, section } from "./requirement.ts";

/** The requirements of the Finder on those who build a role, and on their tests. */
export const guide: readonly Requirement[] = [
  ...section("docs/protocol/finder.md#event-names", {
    "guide-event-names":
      "The constants are `client:get_finder`, `server:update_finder` and `notify:update_finder`.",
  }),
  ...section("docs/protocol/calls-and-offices.md#notifications", {
    "guide-server-skips-sender":
      "The Server broadcasts `notify:update_finder` to the sender's office, but not to the sender.",
    "guide-server-no-office": "An update from a sender without an office is broadcast to nobody.",
  }),
  ...section("docs/protocol/calls-and-offices.md#order-of-checks", {
    "guide-server-404": "The Server answers 404 when it knows no Computer of that name.",
  }),
  ...section("docs/protocol/finder.md#overview", {
    "guide-server-pure-routing": "The Server does not look into what it relays.",
  }),
  ...section("docs/protocol/finder.md#parsing-and-building", {
    "guide-uri-parsed":
      "Parsing yields scheme, host, doc_ref, sub_path, query parameters and the level from 0 to 3.",
    "guide-uri-build": "Building takes a host and, if wanted, doc_ref, sub_path and parameters.",
  }),
  ...section("docs/protocol/finder.md#validation-rules", {
    "guide-uri-4204": "Any rule that fails is error 4204.",
  }),
  ...section("docs/protocol/finder.md#filters", {
    "guide-keyword-case": "Keywords match whatever the case of their letters.",
    "guide-keyword-empty": "An empty keyword stands in every title, so that it keeps all documents.",
    "guide-keyword-joined": "The keyword list is searched as one text joined by spaces.",
  }),
  ...section("docs/protocol/finder.md#document-order", {
    "guide-order-ties": "Documents that compare equal keep the order in which they were listed.",
  }),
  ...section("docs/protocol/finder.md#collecting-documents", {
    "guide-collect-level-1": "A document's summary is built from its Level 1 metadata.",
    "guide-uri-set":
      "The Computer remembers the dpe:// URIs of each MCP server, and compares them with those of the next list.",
    "guide-collect-server": "A document's summary names the MCP server that it comes from.",
  }),
  ...section("docs/protocol/calls-and-offices.md#requests-and-acks", {
    "guide-get-finder-req-id": "The answer carries the `req_id` of its request.",
  }),
  ...section("docs/protocol/finder.md#pagination", {
    "guide-get-finder-defaults": "Without `offset` and `limit` the Computer uses 0 and 20.",
  }),
  ...section("docs/protocol/finder.md#reading-documents", {
    "guide-bridge-host": "The Computer sends a read of a dpe:// URI to the MCP server that has its host.",
  }),
  ...section("docs/protocol/resources.md#read-resource", {
    "guide-bridge-unknown-host": "A read whose host no MCP server has is error 4201.",
    "guide-bridge-answer": "The MCP server's answer is returned as it is.",
  }),
  ...section("docs/protocol/finder.md#agent-duties", {
    "guide-agent-get-finder": "The Agent's method takes a Computer, keywords, file_type, offset and limit.",
    "guide-agent-leaves-out": "The request leaves out the options that are not given.",
    "guide-agent-req-id": "Each request has a `req_id` of its own.",
  }),
  ...section("docs/protocol/finder.md#navigation-helpers", {
    "guide-nav-metadata": "A helper reads a document's metadata at Level 1.",
    "guide-nav-pages":
      "A helper reads a document's page index with offset 0 and limit 20 unless told otherwise.",
    "guide-nav-page": "A helper reads one page in the format asked for, JSON unless told otherwise.",
    "guide-nav-element": "A helper reads one element by its id.",
  }),
  ...section("docs/protocol/errors.md#documents", {
    "guide-4201-origin":
      "4201 comes from the MCP server for a doc_ref that does not exist, and reaches the Agent.",
    "guide-4202-origin":
      "4202 comes from the MCP server for a page_index of page_count or more, and reaches the Agent.",
    "guide-4203-origin":
      "4203 comes from the MCP server for an element id that does not exist, and reaches the Agent.",
    "guide-4204-origin": "4204 comes from the Computer for a URI that breaks a rule, and reaches the Agent.",
  }),
  ...section("docs/protocol/errors.md#codes-at-a-glance", {
    "guide-error-details":
      "Details are doc_ref for 4201, page_index and page_count for 4202, element_id for 4203, uri for 4204.",
  }),
  ...section("docs/protocol/errors.md#403-forbidden", {
    "error-paused": "While its owner has paused it, a Computer answers 403 to whatever asks for what it has.",
  }),
  ...section("docs/protocol/errors.md#error-acks", {
    "guide-error-shape": "An error is answered as `{ error: { code, message, details? } }`.",
  }),
  ...section("docs/protocol/errors.md#handling-along-the-way", {
    "guide-error-logged": "Each role logs an error with the `req_id` of its request.",
    "guide-error-kept": "Each role passes an error on without losing its original details.",
    "guide-error-no-secrets": "No error tells internal addresses or credentials.",
  }),
  ...section("docs/protocol/finder.md#uri-tests", {
    "guide-test-uri-queries": "Combinations of query parameters are parsed.",
    "guide-test-uri-edges": "The empty string, a scheme alone and encoded special characters are handled.",
  }),
  ...section("docs/protocol/finder.md#organizer-tests", {
    "guide-test-empty": "No documents give an empty list and a total_count of 0.",
    "guide-test-type-none": "A file_type that no document has gives an empty list.",
    "guide-test-offset-beyond": "An offset beyond the end gives an empty page.",
    "guide-test-limit-zero": "A limit of 0 gives no documents but the count.",
    "guide-test-limit-beyond": "A limit above the total gives all documents.",
    "guide-test-total-filtered":
      "total_count counts the documents after filtering, not those on the page, so that the Agent knows whether to go on.",
  }),
  ...section("docs/protocol/finder.md#integration-tests", {
    "guide-test-e2e-filters": "keywords, file_type, offset and limit take effect across all roles.",
    "guide-test-e2e-levels": "An Agent reads Level 0, 1, 2 and 3 one after the other.",
    "guide-test-e2e-queries": "An Agent reads with `depth=pages`, `format=markdown` and `categories=table`.",
  }),
  ...section("docs/protocol/finder.md#test-layout", {
    "guide-test-mirror": {
      text: "The finder's tests mirror the desktop's in files of matching names.",
      missing: "a rule about the layout of files; the folders under tests/unit show it",
    },
    "guide-sync-variants": {
      text: "Server and Agent exist in a synchronous variant too.",
      missing: "JavaScript has no blocking sockets, so there is nothing to build",
    },
  }),
];
