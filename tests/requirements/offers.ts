import { type Requirement, section } from "./requirement.ts";

/** The requirements of our extensions by which an Agent gets everything that MCP servers offer. */
export const offers: readonly Requirement[] = [
  ...section("docs/protocol/extensions.md#title-and-icons", {
    "ext-tool-execution": "The `execution` of a tool is in its `meta` as a JSON string.",
  }),
  ...section("docs/protocol/extensions.md#mcp-apps", {
    "ext-app-ui": "Every key of a tool's `_meta`, `ui` among them, is a key of its `meta`.",
    "ext-app-page": "The page of a tool is read with `mcp_server`, and its contents keep their `_meta`.",
    "ext-app-announced": "An MCP server is told that pages can be shown only where its entry has `apps`.",
    "ext-app-only": "A tool that its page alone may call is listed and can be called as any other.",
  }),
  ...section("docs/protocol/extensions.md#list-of-mcp-servers", {
    "ext-servers-list":
      "The MCP servers are listed in order of precedence with their status, and while they run with what they said about themselves.",
    "ext-servers-named": "A request may name one MCP server; an unknown one is 4014.",
    "ext-servers-bounds":
      "Instructions are cut at 65,536 characters, and capabilities above 64 KiB are left out.",
    "ext-servers-paused": "While the owner has paused the Computer, each MCP server says so.",
    "ext-servers-private": "Secrets are never part of what MCP servers say about themselves.",
    "ext-unknown-event": "A Computer that does not know a request of an extension makes the Agent say so.",
  }),
  ...section("docs/protocol/extensions.md#prompts", {
    "ext-prompts-list":
      "Prompts are listed for one MCP server page by page, or for all in their order of precedence, each with its MCP server.",
    "ext-prompts-capability": "An MCP server without prompts is 4015 with the capability `prompts`.",
    "ext-prompts-bounds":
      "At most 1,000 prompts of one MCP server are shown, none above 64 KiB; an entry or an argument without a name is left out.",
  }),
  ...section("docs/protocol/extensions.md#filling-in-a-prompt", {
    "ext-prompt-server": "Without `mcp_server`, the first MCP server that lists the prompt fills it in.",
    "ext-prompt-large":
      "A prompt that is too large for one message is left out in parts, as a tool result is.",
    "ext-prompt-questions": "A question that an MCP server asks before it fills in a prompt is declined.",
    "ext-prompt-errors":
      "A prompt that nobody lists is 404, and one that its MCP server refuses is 400 with `mcp_server` and `prompt`.",
  }),
  ...section("docs/protocol/extensions.md#changes-of-prompts", {
    "ext-prompts-changed":
      "The Computer tells the office when an MCP server with prompts says that its list changed, starts to run, fails or is stopped.",
  }),
  ...section("docs/protocol/extensions.md#completion", {
    "ext-complete-prompt": "An argument of a prompt is completed by the MCP server of the prompt.",
  }),
];
