import { type Requirement, section } from "./requirement.ts";

/** The requirements of `data-structures.md`. */
export const data: readonly Requirement[] = [
  ...section("data-structures.md, 通用约定", {
    "data-snake-case": "Messages are JSON objects whose fields are spelled in snake_case.",
    "data-timeout-seconds": "Time-outs are whole seconds.",
  }),
  ...section("data-structures.md, 基础数据结构", {
    "data-agent-call": "Every request of an Agent carries `agent` and `req_id`.",
    "data-req-id-dedupe":
      "`req_id` relates an answer to its request and lets a repeated request be recognised.",
  }),
  ...section("data-structures.md, 工具相关结构", {
    "data-tool-call-req":
      "ToolCallReq adds computer, tool_name, params and timeout to the base of a request.",
    "data-smcp-tool":
      "SMCPTool has name, description, params_schema, return_schema (or null) and an optional meta.",
    "data-get-tools-req": "GetToolsReq adds computer to the base of a request.",
    "data-get-tools-ret": "GetToolsRet has tools and req_id.",
    "data-alias-conflict": "An alias tells apart tools of the same name on several MCP servers.",
  }),
  ...section("data-structures.md, SMCPTool.meta 序列化规范", {
    "data-meta-flat": "Every value in `meta` is simple; nested values are JSON strings.",
    "data-meta-a2c":
      "`meta.a2c_tool_meta` holds the tool metadata configured on the Computer, as one JSON string, not spread over `meta`.",
    "data-meta-annotation": "`meta.MCP_TOOL_ANNOTATION` holds the tool's MCP annotations.",
    "data-meta-native":
      "Keys that the MCP server itself set in `_meta` stand beside them and are never overwritten by them.",
    "data-meta-empty": "A tool without configured metadata, annotations and own keys has an empty `meta`.",
    "data-meta-nulls": "`a2c_tool_meta` spells out fields that are not set as null.",
  }),
  ...section("data-structures.md, ToolMeta", {
    "data-auto-apply": "`auto_apply` true skips the second confirmation of a call.",
    "data-ret-object-mapper": "`ret_object_mapper` describes how results map to one common form.",
    "data-alias": "`alias` is another name for a tool.",
    "data-tags": "`tags` is a list of labels for a tool.",
  }),
  ...section("data-structures.md, 房间管理结构", {
    "data-enter-office-req": "EnterOfficeReq has role (`computer` or `agent`), name and office_id.",
    "data-leave-office-req": "LeaveOfficeReq has office_id.",
    "data-enter-notification":
      "EnterOfficeNotification has office_id and the name of the Computer or Agent that came.",
    "data-leave-notification":
      "LeaveOfficeNotification has office_id and the name of the Computer or Agent that went.",
    "data-list-room-req": "ListRoomReq adds office_id to the base of a request.",
    "data-session-info": "SessionInfo has sid, name, role and office_id.",
    "data-list-room-ret": "ListRoomRet has sessions and req_id.",
  }),
  ...section("data-structures.md, 配置相关结构", {
    "data-update-req": "UpdateComputerConfigReq has computer.",
    "data-update-config-notification": "UpdateMCPConfigNotification has computer.",
    "data-update-tools-notification": "UpdateToolListNotification has computer.",
    "data-get-config-req": "GetComputerConfigReq adds computer to the base of a request.",
    "data-get-config-ret": "GetComputerConfigRet has servers by name and optional inputs.",
  }),
  ...section("data-structures.md, Desktop 相关结构", {
    "data-desktop-req": "GetDeskTopReq adds computer to the base of a request.",
    "data-desktop-size": "`desktop_size` bounds the number of desktop entries.",
    "data-desktop-window": "`window` asks for the window with that URI.",
    "data-desktop-ret": "GetDeskTopRet has desktops and req_id.",
  }),
  ...section("data-structures.md, Finder 相关结构", {
    "data-finder-req": "GetFinderReq adds computer and optional keywords, file_type, offset and limit.",
    "data-dpe-document":
      "DPEDocumentSummary has doc_ref, uri, file_uri, file_type, title, page_count, server and optionally keywords, summary and last_modified (ISO 8601).",
    "data-dpe-page":
      "DPEPageSummary has page_index (from 0), title, element_count and uri, and optionally doc_ref.",
    "data-dpe-element":
      "DPEElementDetail has element_id, category, content and optionally summary, doc_ref, page_index, uri and metadata.",
    "data-finder-ret": "GetFinderRet has documents, total_count and req_id.",
  }),
  ...section("data-structures.md, MCP Server 配置结构 / BaseMCPServerConfig", {
    "data-config-name": "Every MCP server configuration has a name.",
    "data-config-disabled": "A disabled MCP server is not started.",
    "data-config-forbidden": "Tools in forbidden_tools are not usable.",
    "data-config-tool-meta": "`tool_meta` gives metadata to tools by name.",
    "data-config-default-meta": "`default_tool_meta` is used for what a tool's own metadata does not set.",
    "data-config-vrl": "`vrl` is a VRL script that transforms the results of tools.",
  }),
  ...section("data-structures.md, MCP Server 配置结构", {
    "data-config-stdio": "A `stdio` server has command, args, env and cwd.",
    "data-config-encoding": "A `stdio` server has an encoding, utf-8 by default.",
    "data-config-encoding-errors": "encoding_error_handler is `strict`, `ignore` or `replace`.",
    "data-config-streamable": "A `streamable` server has url and headers and speaks MCP's Streamable HTTP.",
    "data-config-durations-form":
      "timeout and sse_read_timeout of a `streamable` server are ISO 8601 durations.",
    "data-config-durations":
      "timeout of a `streamable` server ends an HTTP request that is not answered, sse_read_timeout an event stream that says nothing.",
    "data-config-sse-times":
      "timeout of an `sse` server ends an HTTP request that is not answered, sse_read_timeout an event stream that says nothing.",
    "data-config-terminate":
      "terminate_on_close says whether the MCP session is ended when the connection closes.",
    "data-config-sse":
      "An `sse` server has url and headers, and its timeout and sse_read_timeout are numbers of seconds.",
    "data-config-union": "The type of an MCP server is `stdio`, `streamable` or `sse`, and nothing else.",
  }),
  ...section("data-structures.md, 输入配置结构", {
    "data-input-placeholders": "Inputs give values to the placeholders in MCP server configurations.",
    "data-input-base": "Every input has an id and a description.",
    "data-input-prompt": "A `promptString` input may have a default.",
    "data-input-password": "A `promptString` input marked as password is not shown while it is typed.",
    "data-input-pick": "A `pickString` input has options and may have a default.",
    "data-input-command": "A `command` input takes its value from running a command with optional args.",
  }),
  ...section("data-structures.md, 类型别名", {
    "data-attribute-value": "An attribute's value is a string, a number, a boolean or null.",
  }),
];
