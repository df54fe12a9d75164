/** The namespace and the names of all events. */

/** The Socket.IO namespace of the protocol. */
export const SMCP_NAMESPACE = "/smcp";

// Agent → Server → Computer, answered by the Computer.
export const TOOL_CALL_EVENT = "client:tool_call";
export const GET_TOOLS_EVENT = "client:get_tools";
export const GET_CONFIG_EVENT = "client:get_config";
export const GET_DESKTOP_EVENT = "client:get_desktop";
export const GET_FINDER_EVENT = "client:get_finder";
export const READ_RESOURCE_EVENT = "client:read_resource";
export const GET_RESOURCES_EVENT = "client:get_resources";
export const GET_DPE_EVENT = "client:get_dpe";
export const GET_BLOB_EVENT = "client:get_blob";

// Computer or Agent → Server.
export const JOIN_OFFICE_EVENT = "server:join_office";
export const LEAVE_OFFICE_EVENT = "server:leave_office";
export const LIST_ROOM_EVENT = "server:list_room";
export const UPDATE_CONFIG_EVENT = "server:update_config";
export const UPDATE_TOOL_LIST_EVENT = "server:update_tool_list";
export const UPDATE_DESKTOP_EVENT = "server:update_desktop";
export const UPDATE_FINDER_EVENT = "server:update_finder";
export const CANCEL_TOOL_CALL_EVENT = "server:tool_call_cancel";

// Server → everyone else in the office.
export const ENTER_OFFICE_NOTIFICATION = "notify:enter_office";
export const LEAVE_OFFICE_NOTIFICATION = "notify:leave_office";
export const UPDATE_CONFIG_NOTIFICATION = "notify:update_config";
export const UPDATE_TOOL_LIST_NOTIFICATION = "notify:update_tool_list";
export const UPDATE_DESKTOP_NOTIFICATION = "notify:update_desktop";
export const UPDATE_FINDER_NOTIFICATION = "notify:update_finder";
export const CANCEL_TOOL_CALL_NOTIFICATION = "notify:tool_call_cancel";

/** What an Agent asks of a Computer starts with this; the Server relays it by its shape. */
export const CLIENT_EVENT_PREFIX = "client:";
/** What a member asks of the Server itself starts with this. */
export const SERVER_EVENT_PREFIX = "server:";
/** A Computer's `server:update_<x>` is broadcast as `notify:update_<x>`. */
export const UPDATE_EVENT_PREFIX = "server:update_";
/** The broadcast form of {@linkcode UPDATE_EVENT_PREFIX}. */
export const UPDATE_NOTIFICATION_PREFIX = "notify:update_";
