/**
 * The Agent: uses the tools, windows and documents of the Computers in an office.
 *
 * ```ts
 * import { Agent } from "@a2c-smcp/sdk/agent";
 *
 * export async function lookAround(url: string): Promise<void> {
 *   await using agent = await Agent.connect({ url, office: "lab", name: "ada" });
 *   using _ = agent.on("updateDesktop", ({ computer }) => console.log(`${computer} shows something new`));
 *
 *   const laptop = agent.computer("laptop");
 *   const result = await laptop.callTool("echo", { message: "hi" }, { timeoutMs: 5_000 });
 *   const [window] = await laptop.getDesktop({ size: 1 });
 *   const { documents: [report] } = await laptop.getFinder({ keywords: ["report"] });
 *   const page = report && await laptop.readPage(report.uri, 0, { format: "markdown" });
 *   console.log(result.content, window, page?.content_markdown);
 * }
 * ```
 *
 * The Agent as a program needs the network, and no environment variables unless options come from them:
 *
 * ```sh
 * deno run --allow-net --ignore-env agent.ts --url http://127.0.0.1:3000 --office lab --name ada tools
 * ```
 *
 * @module
 */
export { Agent, type AgentOptions } from "./src/agent/agent.ts";
export type {
  AgentEvent,
  AgentEventName,
  AgentEventOf,
  AgentEvents,
  AgentListener,
  ComputerChange,
  ComputerViewName,
  OfficeMember,
} from "./src/agent/events.ts";
export type { AgentQuestion, CallWait, OnQuestion, QuestionBase } from "./src/agent/questions.ts";
export type { Unsubscribe } from "./src/agent/listeners.ts";
export type { FormatOptions, OutlineOptions, PageIndexOptions, PageOptions } from "./src/agent/documents.ts";
export { RemoteComputer } from "./src/agent/remote_computer.ts";
export type {
  CallRetry,
  CallToolOptions,
  CompleteOptions,
  DesktopOptions,
  FinderOptions,
  McpServerOptions,
  PageRequestOptions,
  PromptOptions,
  ReadResourceOptions,
  RemoteComputerOptions,
  ResourceUpdates,
} from "./src/agent/remote_options.ts";
export type { PresenceOptions, RequestOptions } from "./src/agent/requests.ts";
export type { PutBlobOptions, UploadedBlob, UploadFile, UploadSource } from "./src/agent/uploads.ts";
export { toElement } from "./src/dpe/content.ts";
export type { PageSpan } from "./src/dpe/outline.ts";
export type { KnownOffice, Office } from "./src/agent/toolkit/office.ts";
export type { RetryOptions } from "./src/link/retry.ts";
export type { CredentialsSource, SentCredentials, ServerAccess } from "./src/link/credentials.ts";
export type { LogFields, Logger } from "./src/log.ts";
export type {
  BaseMCPServerConfig,
  GetComputerConfigRet,
  IdentityProviderSettings,
  MCPServerCommandInput,
  MCPServerConfig,
  MCPServerInput,
  MCPServerInputBase,
  MCPServerPickStringInput,
  MCPServerPromptStringInput,
  MCPServerStdioConfig,
  MCPServerStdioParameters,
  MCPServerStreamableHttpConfig,
  MCPServerStreamableHttpParameters,
  MCPSSEConfig,
  MCPSSEParameters,
  NetworkMCPServerConfig,
  OAuthSettings,
  SandboxSettings,
} from "./src/protocol/config.ts";
export type { CallProgress } from "./src/protocol/progress.ts";
export type { CallTimeouts } from "./src/protocol/call.ts";
export { checkContent, type CheckedContent, fieldProblem } from "./src/protocol/form_answer.ts";
export type {
  BooleanField,
  ChoiceField,
  ChoicesField,
  FieldBase,
  FieldOption,
  NumberField,
  QuestionField,
  TextField,
  TextFormat,
} from "./src/protocol/question_form.ts";
export type { Answer, FieldValue } from "./src/protocol/questions.ts";
export { type Desktop, type DesktopEntry, parseDesktopEntry } from "./src/protocol/desktop.ts";
export {
  DPE_FORMATS,
  type DPEDocument,
  type DPEDocumentPages,
  type DPEDocumentSummary,
  type DPEElementDetail,
  type DPEFormat,
  type DPEHit,
  type DPEOutlineEntry,
  type DPEPage,
  type DPEPageSummary,
  type DPESearchGaps,
  ELEMENT_CATEGORIES,
  type ElementCategory,
} from "./src/protocol/dpe.ts";
export type { FinderPage } from "./src/protocol/finder.ts";
export type {
  AnnotationContent,
  ChartContent,
  CodeContent,
  DiagramContent,
  DPEElement,
  DPEElementOf,
  ElementContent,
  ElementContents,
  FormContent,
  FormField,
  FormulaContent,
  HeadingContent,
  ImageContent,
  LinkContent,
  ListContent,
  ListItem,
  ListItemContent,
  MarginContent,
  MediaContent,
  PivotTableContent,
  SeparatorContent,
  TableCell,
  TableContent,
  TextContent,
  WidgetContent,
} from "./src/protocol/dpe_content.ts";
export { ErrorCode } from "./src/protocol/error_codes.ts";
export { type ErrorDetails, SmcpError, UnsupportedRequestError } from "./src/protocol/errors.ts";
export { type Farewell, FarewellCode } from "./src/protocol/farewell.ts";
export {
  AuthenticationError,
  ConnectionClosedError,
  JoinRefusedError,
  LeaveRefusedError,
  mayHaveRun,
  ProtocolVersionError,
  RequestTimeoutError,
  ServerUnreachableError,
  type VersionRefusal,
} from "./src/link/errors.ts";
export type { McpServerAbout, McpServerInfo } from "./src/protocol/mcp_servers.ts";
export type { Role, SessionInfo } from "./src/protocol/office.ts";
export type {
  Completion,
  CompletionTarget,
  PromptPage,
  ResourcePage,
  ResourceTemplatePage,
} from "./src/protocol/pages.ts";
export type { ComputerPresence } from "./src/protocol/presence.ts";
export type { GetPromptRet, PromptArgument, PromptInfo, PromptMessage } from "./src/protocol/prompts.ts";
export type { ResourceTemplateInfo } from "./src/protocol/resource_templates.ts";
export type { ResourceUpdate } from "./src/protocol/resource_updates.ts";
export type {
  DpeResource,
  ReadResourceRet,
  ResourceAnnotations,
  ResourceContents,
  ResourceIcon,
  ResourceInfo,
} from "./src/protocol/resources.ts";
export {
  isForModel,
  type TaskSupport,
  type ToolAnnotations,
  type ToolDetails,
  toolDetails,
  type ToolIcon,
  type ToolUi,
} from "./src/protocol/tool_details.ts";
export {
  A2C_MCP_SERVER,
  A2C_TOOL_META,
  A2C_VRL_TRANSFORMED,
  type Attributes,
  type AttributeValue,
  type AudioItem,
  type CallToolResult,
  type ContentItem,
  type ContentItemBase,
  type ImageItem,
  MCP_TOOL_ANNOTATION,
  MCP_TOOL_EXECUTION,
  MCP_TOOL_ICONS,
  MCP_TOOL_TITLE,
  type Only,
  type ResourceItem,
  type ResourceLinkItem,
  type SERVER_NAME,
  type SMCPTool,
  type TextItem,
  type TOOL_NAME,
  type ToolFailureReason,
  type ToolMeta,
  type ToolResultMeta,
  type UnknownItem,
} from "./src/protocol/tools.ts";
export { type ExposedName, splitExposedName } from "./src/protocol/bundle_id.ts";
export type { ProtocolMinor } from "./src/protocol/version.ts";

export type { SkillFile, SkillFileOptions } from "./src/agent/skills.ts";
export type { SkillRef } from "./src/protocol/skills.ts";
if (import.meta.main) {
  const { runAgentCli } = await import("./src/cli/agent/main.ts");
  Deno.exit(await runAgentCli(Deno.args));
}
