import { type Requirement, section } from "./requirement.ts";

/** The requirements of `docs/protocol/resources.md` on the Computer as an MCP client and on the MCP servers that we provide. */
export const mcp: readonly Requirement[] = [
  ...section("docs/protocol/resources.md#capabilities", {
    "mcp-capability-options":
      "A server with resources declares `resources`, with `subscribe` and `listChanged` each optional; any combination is served.",
  }),
  ...section("docs/protocol/resources.md#listing", {
    "mcp-list-cursor": "`resources/list` is paged with `cursor` and `nextCursor`, and all pages are read.",
  }),
  ...section("docs/protocol/resources.md#reading", {
    "mcp-read": "`resources/read` takes a URI and answers its `contents`.",
  }),
  ...section("docs/protocol/resources.md#templates", {
    "mcp-templates":
      "`resources/templates/list` answers parameterised URIs, whose parameters completion can fill in.",
  }),
  ...section("docs/protocol/resources.md#list-changes", {
    "mcp-list-changed": "A server with `listChanged` should notify when its list of resources changes.",
  }),
  ...section("docs/protocol/resources.md#subscriptions", {
    "mcp-subscribe": "A client subscribes to single resources with `resources/subscribe`.",
    "mcp-subscribe-any": "An Agent subscribes to single resources of any scheme, and hears of their updates.",
    "mcp-updated":
      "A subscriber gets `notifications/resources/updated` with the URI of the resource that changed.",
  }),
  ...section("docs/protocol/resources.md#resource", {
    "mcp-resource": "A resource has uri and name and optionally title, description, mimeType and size.",
  }),
  ...section("docs/protocol/resources.md#contents", {
    "mcp-contents": "Text contents carry `text`, binary contents carry `blob` in base64.",
  }),
  ...section("docs/protocol/resources.md#annotations", {
    "mcp-annotations":
      "Annotations are `audience` (of `user` and `assistant`), `priority` (0.0 to 1.0) and `lastModified` (ISO 8601).",
    "mcp-annotations-used":
      "A client filters, prioritises and sorts by annotations: the Desktop by priority, with a warning for an audience without the assistant.",
  }),
  ...section("docs/protocol/resources.md#uri-schemes", {
    "mcp-schemes":
      "Resources of the schemes `https`, `file` and `git`, and of any other, are listed and read.",
    "mcp-custom-scheme": "Custom URI schemes conform to RFC 3986.",
  }),
  ...section("docs/protocol/resources.md#errors", {
    "mcp-error-not-found": "A resource that does not exist is the JSON-RPC error -32002 with its uri.",
    "mcp-error-internal": "An internal failure is the JSON-RPC error -32603.",
  }),
  ...section("docs/protocol/resources.md#security", {
    "mcp-validate-uris": "A server validates every resource URI that it is asked for.",
    "mcp-access-control": "Access to sensitive resources is checked before anything is done.",
    "mcp-encode-binary": "Binary data is encoded correctly.",
  }),
];
