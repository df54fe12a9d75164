import { type Requirement, section } from "./requirement.ts";

/** The requirements of `docs/protocol/data-structures.md`. */
export const data: readonly Requirement[] = [
  ...section("docs/protocol/data-structures.md#conventions", {
    "data-snake-case": "Messages are JSON objects whose fields are spelled in snake_case.",
    "data-timeout-seconds": "Time-outs are whole seconds.",
  }),
  ...section("docs/protocol/data-structures.md#agentcalldata", {
    "data-agent-call": "Every request of an Agent carries `agent` and `req_id`.",
    "data-req-id-dedupe":
      "`req_id` relates an answer to its request and lets a repeated request be recognised.",
  }),
  ...section("docs/protocol/data-structures.md#toolcallreq", {
    "data-tool-call-req":
      "ToolCallReq adds computer, tool_name, params and timeout to the base of a request.",
  }),
  ...section("docs/protocol/data-structures.md#gettoolsreq", {
    "data-get-tools-req": "GetToolsReq adds computer to the base of a request.",
  }),
  ...section("docs/protocol/data-structures.md#gettoolsret", {
    "data-get-tools-ret": "GetToolsRet has tools and req_id.",
  }),
  ...section("docs/protocol/data-structures.md#smcptool", {
    "data-smcp-tool":
      "SMCPTool has name, description, params_schema, return_schema (or null) and an optional meta.",
    "data-alias-conflict": "An alias tells apart tools of the same name on several MCP servers.",
  }),
  ...section("docs/protocol/data-structures.md#tool-meta", {
    "data-meta-flat": "Every value in `meta` is simple; nested values are JSON strings.",
    "data-meta-a2c":
      "`meta.a2c_tool_meta` holds the tool metadata configured on the Computer, as one JSON string, not spread over `meta`.",
    "data-meta-annotation": "`meta.MCP_TOOL_ANNOTATION` holds the tool's MCP annotations.",
    "data-meta-native":
      "Keys that the MCP server itself set in `_meta` stand beside them and are never overwritten by them.",
    "data-meta-empty": "A tool without configured metadata, annotations and own keys has an empty `meta`.",
    "data-meta-nulls": "`a2c_tool_meta` spells out fields that are not set as null.",
  }),
  ...section("docs/protocol/data-structures.md#toolmeta", {
    "data-auto-apply": "`auto_apply` true skips the second confirmation of a call.",
    "data-ret-object-mapper": "`ret_object_mapper` describes how results map to one common form.",
    "data-alias": "`alias` is another name for a tool.",
    "data-tags": "`tags` is a list of labels for a tool.",
  }),
  ...section("docs/protocol/data-structures.md#enterofficereq", {
    "data-enter-office-req": "EnterOfficeReq has role (`computer` or `agent`), name and office_id.",
  }),
  ...section("docs/protocol/data-structures.md#leaveofficereq", {
    "data-leave-office-req": "LeaveOfficeReq has office_id.",
  }),
  ...section("docs/protocol/data-structures.md#enterofficenotification", {
    "data-enter-notification":
      "EnterOfficeNotification has office_id and the name of the Computer or Agent that came.",
  }),
  ...section("docs/protocol/data-structures.md#leaveofficenotification", {
    "data-leave-notification":
      "LeaveOfficeNotification has office_id and the name of the Computer or Agent that went.",
  }),
  ...section("docs/protocol/data-structures.md#listroomreq", {
    "data-list-room-req": "ListRoomReq adds office_id to the base of a request.",
  }),
  ...section("docs/protocol/data-structures.md#sessioninfo", {
    "data-session-info": "SessionInfo has sid, name, role and office_id.",
  }),
  ...section("docs/protocol/data-structures.md#listroomret", {
    "data-list-room-ret": "ListRoomRet has sessions and req_id.",
  }),
  ...section("docs/protocol/data-structures.md#updatecomputerconfigreq", {
    "data-update-req": "UpdateComputerConfigReq has computer.",
  }),
  ...section("docs/protocol/data-structures.md#updatemcpconfignotification", {
    "data-update-config-notification": "UpdateMCPConfigNotification has computer.",
  }),
  ...section("docs/protocol/data-structures.md#updatetoollistnotification", {
    "data-update-tools-notification": "UpdateToolListNotification has computer.",
  }),
  ...section("docs/protocol/data-structures.md#getcomputerconfigreq", {
    "data-get-config-req": "GetComputerConfigReq adds computer to the base of a request.",
  }),
  ...section("docs/protocol/data-structures.md#getcomputerconfigret", {
    "data-get-config-ret": "GetComputerConfigRet has servers by name and optional inputs.",
  }),
  ...section("docs/protocol/data-structures.md#getdesktopreq", {
    "data-desktop-req": "GetDeskTopReq adds computer to the base of a request.",
    "data-desktop-size": "`desktop_size` bounds the number of desktop entries.",
    "data-desktop-window": "`window` asks for the window with that URI.",
  }),
  ...section("docs/protocol/data-structures.md#getdesktopret", {
    "data-desktop-ret": "GetDeskTopRet has desktops and req_id.",
  }),
  ...section("docs/protocol/data-structures.md#getfinderreq", {
    "data-finder-req": "GetFinderReq adds computer and optional keywords, file_type, offset and limit.",
  }),
  ...section("docs/protocol/data-structures.md#dpedocumentsummary", {
    "data-dpe-document":
      "DPEDocumentSummary has doc_ref, uri, file_uri, file_type, title, page_count, server and optionally keywords, summary and last_modified (ISO 8601).",
  }),
  ...section("docs/protocol/data-structures.md#dpepagesummary", {
    "data-dpe-page":
      "DPEPageSummary has page_index (from 0), title, element_count and uri, and optionally doc_ref.",
  }),
  ...section("docs/protocol/data-structures.md#dpeelementdetail", {
    "data-dpe-element":
      "DPEElementDetail has element_id, category, content and optionally summary, doc_ref, page_index, uri and metadata.",
  }),
  ...section("docs/protocol/data-structures.md#getfinderret", {
    "data-finder-ret": "GetFinderRet has documents, total_count and req_id.",
  }),
  ...section("docs/protocol/data-structures.md#basemcpserverconfig", {
    "data-config-name": "Every MCP server configuration has a name.",
    "data-config-disabled": "A disabled MCP server is not started.",
    "data-config-forbidden": "Tools in forbidden_tools are not usable.",
    "data-config-tool-meta": "`tool_meta` gives metadata to tools by name.",
    "data-config-default-meta": "`default_tool_meta` is used for what a tool's own metadata does not set.",
    "data-config-vrl": "`vrl` is a VRL script that transforms the results of tools.",
  }),
  ...section("docs/protocol/data-structures.md#mcpserverstdioparameters", {
    "data-config-stdio": "A `stdio` server has command, args, env and cwd.",
    "data-config-encoding": "A `stdio` server has an encoding, utf-8 by default.",
    "data-config-encoding-errors": "encoding_error_handler is `strict`, `ignore` or `replace`.",
  }),
  ...section("docs/protocol/data-structures.md#mcpserverstreamablehttpparameters", {
    "data-config-streamable": "A `streamable` server has url and headers and speaks MCP's Streamable HTTP.",
    "data-config-durations-form":
      "timeout and sse_read_timeout of a `streamable` server are ISO 8601 durations.",
    "data-config-durations":
      "timeout of a `streamable` server ends an HTTP request that is not answered, sse_read_timeout an event stream that says nothing.",
    "data-config-terminate":
      "terminate_on_close says whether the MCP session is ended when the connection closes.",
  }),
  ...section("docs/protocol/data-structures.md#mcpsseparameters", {
    "data-config-sse":
      "An `sse` server has url and headers, and its timeout and sse_read_timeout are numbers of seconds.",
    "data-config-sse-times":
      "timeout of an `sse` server ends an HTTP request that is not answered, sse_read_timeout an event stream that says nothing.",
  }),
  ...section("docs/protocol/data-structures.md#mcpserverconfig", {
    "data-config-union": "The type of an MCP server is `stdio`, `streamable` or `sse`, and nothing else.",
  }),
  ...section("docs/protocol/data-structures.md#inputs", {
    "data-input-placeholders": "Inputs give values to the placeholders in MCP server configurations.",
  }),
  ...section("docs/protocol/data-structures.md#mcpserverinputbase", {
    "data-input-base": "Every input has an id and a description.",
  }),
  ...section("docs/protocol/data-structures.md#mcpserverpromptstringinput", {
    "data-input-prompt": "A `promptString` input may have a default.",
    "data-input-password": "A `promptString` input marked as password is not shown while it is typed.",
  }),
  ...section("docs/protocol/data-structures.md#mcpserverpickstringinput", {
    "data-input-pick": "A `pickString` input has options and may have a default.",
  }),
  ...section("docs/protocol/data-structures.md#mcpservercommandinput", {
    "data-input-command": "A `command` input takes its value from running a command with optional args.",
  }),
  ...section("docs/protocol/data-structures.md#type-aliases", {
    "data-attribute-value": "An attribute's value is a string, a number, a boolean or null.",
  }),
];
