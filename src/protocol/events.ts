/** The namespace and the names of all events. */

/** The Socket.IO namespace of the protocol. */
export const SMCP_NAMESPACE = "/smcp";

// Agent → Server → Computer, answered by the Computer.
/** An Agent calls a tool of a Computer. */
export const TOOL_CALL_EVENT = "client:tool_call";
/** An Agent lists a Computer's tools. */
export const GET_TOOLS_EVENT = "client:get_tools";
/** An Agent looks at a Computer's configuration. */
export const GET_CONFIG_EVENT = "client:get_config";
/** An Agent looks at a Computer's Desktop. */
export const GET_DESKTOP_EVENT = "client:get_desktop";
/** An Agent looks at a Computer's windows, with what is known of each; an extension of ours. */
export const GET_WINDOWS_EVENT = "client:get_windows";
/** An Agent looks into a Computer's Finder. */
export const GET_FINDER_EVENT = "client:get_finder";
/** An Agent reads a resource of a Computer. */
export const READ_RESOURCE_EVENT = "client:read_resource";
/** An Agent lists the resources of one MCP server. */
export const GET_RESOURCES_EVENT = "client:get_resources";
/** An Agent lists the templates of resources; an extension of ours. */
export const GET_RESOURCE_TEMPLATES_EVENT = "client:get_resource_templates";
/** An Agent asks for suggestions for a parameter of a template; an extension of ours. */
export const GET_COMPLETION_EVENT = "client:get_completion";
/** An Agent wants to hear of changes to a resource; an extension of ours. */
export const SUBSCRIBE_RESOURCE_EVENT = "client:subscribe_resource";
/** An Agent does not want to hear of changes to a resource any more; an extension of ours. */
export const UNSUBSCRIBE_RESOURCE_EVENT = "client:unsubscribe_resource";
/** An Agent asks which resources and lists of resources changed; an extension of ours. */
export const GET_RESOURCE_UPDATES_EVENT = "client:get_resource_updates";
/** An Agent asks where it can fetch a document by itself. */
export const GET_DPE_EVENT = "client:get_dpe";
/** An Agent fetches a chunk of what a Computer left out of an answer that was too large. */
export const GET_BLOB_EVENT = "client:get_blob";

/** An Agent lists a Computer's skills, of newer peers. */
export const GET_SKILLS_EVENT = "client:get_skills";
/** An Agent reads a skill of a Computer, of newer peers. */
export const GET_SKILL_EVENT = "client:get_skill";

// Computer or Agent → Server.
/** A member joins an office. */
export const JOIN_OFFICE_EVENT = "server:join_office";
/** A member leaves its office. */
export const LEAVE_OFFICE_EVENT = "server:leave_office";
/** A member asks who is in its office. */
export const LIST_ROOM_EVENT = "server:list_room";
/** A Computer's configuration changed. */
export const UPDATE_CONFIG_EVENT = "server:update_config";
/** A Computer's tools changed. */
export const UPDATE_TOOL_LIST_EVENT = "server:update_tool_list";
/** A Computer's windows changed. */
export const UPDATE_DESKTOP_EVENT = "server:update_desktop";
/** A Computer's documents changed. */
export const UPDATE_FINDER_EVENT = "server:update_finder";
/** Resources that an Agent subscribed to, or a list of resources, changed on a Computer; an extension of ours. */
export const UPDATE_RESOURCES_EVENT = "server:update_resources";
/** An Agent cancels a tool call. */
export const CANCEL_TOOL_CALL_EVENT = "server:tool_call_cancel";

// Server → everyone else in the office.
/** Somebody joined the office. */
export const ENTER_OFFICE_NOTIFICATION = "notify:enter_office";
/** Somebody left the office; a lost connection is a leave. */
export const LEAVE_OFFICE_NOTIFICATION = "notify:leave_office";
/** A Computer's configuration changed. */
export const UPDATE_CONFIG_NOTIFICATION = "notify:update_config";
/** A Computer's tools changed. */
export const UPDATE_TOOL_LIST_NOTIFICATION = "notify:update_tool_list";
/** A Computer's windows changed. */
export const UPDATE_DESKTOP_NOTIFICATION = "notify:update_desktop";
/** A Computer's documents changed. */
export const UPDATE_FINDER_NOTIFICATION = "notify:update_finder";
/** Resources that were subscribed to, or a list of resources, changed on a Computer; an extension of ours. */
export const UPDATE_RESOURCES_NOTIFICATION = "notify:update_resources";
/** An Agent cancelled a tool call. */
export const CANCEL_TOOL_CALL_NOTIFICATION = "notify:tool_call_cancel";

/** What an Agent asks of a Computer starts with this; the Server relays it by its shape. */
export const CLIENT_EVENT_PREFIX = "client:";
/** Requests that change nothing start with this, but for {@linkcode READ_RESOURCE_EVENT}. */
export const READING_EVENT_PREFIX = "client:get_";
/** What a member asks of the Server itself starts with this. */
export const SERVER_EVENT_PREFIX = "server:";
/** A Computer's `server:update_<x>` is broadcast as `notify:update_<x>`. */
export const UPDATE_EVENT_PREFIX = "server:update_";
/** The broadcast form of {@linkcode UPDATE_EVENT_PREFIX}. */
export const UPDATE_NOTIFICATION_PREFIX = "notify:update_";
