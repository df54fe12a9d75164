/**
 * A2C-SMCP for TypeScript: an AI agent uses tools, live windows and documents on other people's machines, without
 * those machines opening a port and without their credentials leaving them.
 *
 * This module has what all roles share: the protocol's types, events and error codes, the `window://` and `dpe://` URIs,
 * and the order of Desktop and Finder. The roles are `@a2c-smcp/sdk/server`, `@a2c-smcp/sdk/computer` and
 * `@a2c-smcp/sdk/agent`. It needs no permission.
 *
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { parseDpeUri, PROTOCOL_VERSION } from "@a2c-smcp/sdk";
 *
 * assertEquals(parseDpeUri("dpe://com.example.docs/report/pages/0").pageIndex, 0);
 * assertEquals(PROTOCOL_VERSION, "0.2.0");
 * ```
 *
 * @module
 */
export { toElement } from "./src/dpe/content.ts";
export { renderElementMarkdown, renderPageMarkdown } from "./src/dpe/markdown.ts";
export { renderElementText, renderPageText } from "./src/dpe/text.ts";
export { organizeDesktop, type OrganizeDesktopOptions } from "./src/organizer/desktop.ts";
export type { DesktopWindow } from "./src/organizer/windows.ts";
export {
  type FinderQueryOptions,
  organizeFinder,
  type OrganizeFinderOptions,
} from "./src/organizer/finder.ts";
export type { OrganizerWarning, OrganizerWarningCode } from "./src/organizer/warning.ts";
export type { AgentCallAnswer, AgentCallData, ComputerCallData } from "./src/protocol/call.ts";
export type {
  BaseMCPServerConfig,
  GetComputerConfigReq,
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
export {
  type Desktop,
  type DesktopEntry,
  type GetDeskTopReq,
  type GetDeskTopRet,
  type GetWindowsRet,
  parseDesktopEntry,
  type WindowInfo,
} from "./src/protocol/desktop.ts";
export {
  DEFAULT_PAGE_LIMIT,
  DPE_FORMATS,
  type DPECatalogue,
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
  MAX_PAGE_LIMIT,
} from "./src/protocol/dpe.ts";
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
export { checkContent, type CheckedContent, fieldProblem } from "./src/protocol/form_answer.ts";
export { ErrorCode } from "./src/protocol/error_codes.ts";
export {
  type ErrorAck,
  type ErrorDetails,
  SmcpError,
  UnsupportedRequestError,
} from "./src/protocol/errors.ts";
export {
  ANSWER_INPUT_EVENT,
  CANCEL_TOOL_CALL_EVENT,
  CANCEL_TOOL_CALL_NOTIFICATION,
  CLIENT_EVENT_PREFIX,
  CONNECTION_CLOSING_NOTIFICATION,
  CREDENTIALS_EXPIRING_NOTIFICATION,
  ENTER_OFFICE_NOTIFICATION,
  FOLLOW_CALL_EVENT,
  GET_BLOB_EVENT,
  GET_COMPLETION_EVENT,
  GET_CONFIG_EVENT,
  GET_DESKTOP_EVENT,
  GET_DPE_EVENT,
  GET_FINDER_EVENT,
  GET_MCP_SERVERS_EVENT,
  GET_PROMPT_EVENT,
  GET_PROMPTS_EVENT,
  GET_RESOURCE_TEMPLATES_EVENT,
  GET_RESOURCE_UPDATES_EVENT,
  GET_RESOURCES_EVENT,
  GET_SKILL_EVENT,
  GET_SKILLS_EVENT,
  GET_TOOLS_EVENT,
  GET_WINDOWS_EVENT,
  JOIN_OFFICE_EVENT,
  LEAVE_OFFICE_EVENT,
  LEAVE_OFFICE_NOTIFICATION,
  LIST_ROOM_EVENT,
  OPEN_INPUT_EVENT,
  PUT_BLOB_EVENT,
  READ_RESOURCE_EVENT,
  RENEW_CREDENTIALS_EVENT,
  SERVER_EVENT_PREFIX,
  SMCP_NAMESPACE,
  SUBSCRIBE_RESOURCE_EVENT,
  TOOL_CALL_EVENT,
  UNSUBSCRIBE_RESOURCE_EVENT,
  UPDATE_CONFIG_EVENT,
  UPDATE_CONFIG_NOTIFICATION,
  UPDATE_DESKTOP_EVENT,
  UPDATE_DESKTOP_NOTIFICATION,
  UPDATE_EVENT_PREFIX,
  UPDATE_FINDER_EVENT,
  UPDATE_FINDER_NOTIFICATION,
  UPDATE_NOTIFICATION_PREFIX,
  UPDATE_PROGRESS_EVENT,
  UPDATE_PROGRESS_NOTIFICATION,
  UPDATE_PROMPTS_EVENT,
  UPDATE_PROMPTS_NOTIFICATION,
  UPDATE_RESOURCES_EVENT,
  UPDATE_RESOURCES_NOTIFICATION,
  UPDATE_TOOL_LIST_EVENT,
  UPDATE_TOOL_LIST_NOTIFICATION,
} from "./src/protocol/events.ts";
export { type ConnectionClosingNotification, type Farewell, FarewellCode } from "./src/protocol/farewell.ts";
export {
  DEFAULT_FINDER_LIMIT,
  type FinderPage,
  type GetFinderReq,
  type GetFinderRet,
  MAX_FINDER_LIMIT,
} from "./src/protocol/finder.ts";
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
export type {
  GetMcpServersReq,
  GetMcpServersRet,
  McpServerAbout,
  McpServerInfo,
} from "./src/protocol/mcp_servers.ts";
export type {
  EnterOfficeNotification,
  EnterOfficeReq,
  LeaveOfficeNotification,
  LeaveOfficeReq,
  ListRoomReq,
  ListRoomRet,
  Role,
  SessionInfo,
  UpdateComputerConfigReq,
  UpdateMCPConfigNotification,
  UpdateToolListNotification,
} from "./src/protocol/office.ts";
export type { ComputerPresence, ListPresenceReq, ListPresenceRet } from "./src/protocol/presence.ts";
export type {
  GetPromptReq,
  GetPromptRet,
  GetPromptsReq,
  GetPromptsRet,
  PromptArgument,
  PromptInfo,
  PromptMessage,
} from "./src/protocol/prompts.ts";
export type {
  CompletionInfo,
  GetCompletionReq,
  GetCompletionRet,
  GetResourceTemplatesReq,
  GetResourceTemplatesRet,
  ResourceTemplateInfo,
} from "./src/protocol/resource_templates.ts";
export type {
  CallProgress,
  FollowCallReq,
  FollowCallRet,
  UpdateProgressReq,
} from "./src/protocol/progress.ts";
export type {
  GetResourceUpdatesReq,
  GetResourceUpdatesRet,
  ResourceUpdate,
  SubscribeResourceReq,
  SubscribeResourceRet,
} from "./src/protocol/resource_updates.ts";
export type {
  DpeResource,
  GetBlobReq,
  GetBlobRet,
  GetDpeReq,
  GetDpeRet,
  GetResourcesReq,
  GetResourcesRet,
  McpListed,
  McpNamed,
  McpResource,
  ReadResourceReq,
  ReadResourceRet,
  ResourceAnnotations,
  ResourceContents,
  ResourceIcon,
  ResourceInfo,
} from "./src/protocol/resources.ts";
export type { PutBlobReq, PutBlobRet } from "./src/protocol/uploads.ts";
export {
  isForModel,
  type TaskSupport,
  type ToolAnnotations,
  type ToolDetails,
  toolDetails,
  type ToolIcon,
  type ToolUi,
} from "./src/protocol/tool_details.ts";
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
export {
  A2C_INPUT_REQUIRED,
  type Answer,
  type AnswerInputReq,
  type FieldValue,
  type InputRequired,
  type InputRequiredBase,
  type OpenInputReq,
  type OpenInputRet,
  QUESTION_MODES,
  type QuestionMode,
} from "./src/protocol/questions.ts";
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
  type GetToolsReq,
  type GetToolsRet,
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
  type ToolCallReq,
  type ToolFailureReason,
  type ToolMeta,
  type ToolResultMeta,
  type UnknownItem,
} from "./src/protocol/tools.ts";
export {
  minorOf,
  parseProtocolVersion,
  PROTOCOL_MINORS,
  PROTOCOL_VERSION,
  PROTOCOL_VERSIONS,
  type ProtocolMinor,
  type ProtocolVersion,
  VERSION_QUERY_PARAMETER,
} from "./src/protocol/version.ts";
export {
  type DpeDepth,
  type DpeQuery,
  dpeQueryOf,
  type DpeSearch,
  type DpeTextSearch,
} from "./src/uri/dpe_query.ts";
export { buildDpeUri, type DpeUri, type DpeUriParts, parseDpeUri } from "./src/uri/dpe_uri.ts";
export { buildWindowUri, parseWindowUri, windowIdentity, type WindowUri } from "./src/uri/window_uri.ts";
export { PACKAGE_VERSION } from "./src/version.ts";
