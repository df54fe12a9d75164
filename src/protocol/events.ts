/** The namespace and the names of all events. */

/** The Socket.IO namespace of the protocol. */
export const SMCP_NAMESPACE = "/smcp";

// Requests of an Agent to a Computer, relayed by the Server.
/** Calls a tool of a Computer. */
export const TOOL_CALL_EVENT = "client:tool_call";
/** Calls a tool of a Computer after its owner was asked; an extension of ours. */
export const ASK_TOOL_CALL_EVENT = "client:ask_tool_call";
/** Lists a Computer's tools. */
export const GET_TOOLS_EVENT = "client:get_tools";
/** Fetches a Computer's configuration. */
export const GET_CONFIG_EVENT = "client:get_config";
/** Fetches a Computer's Desktop. */
export const GET_DESKTOP_EVENT = "client:get_desktop";
/** Fetches a Computer's windows as objects; an extension of ours. */
export const GET_WINDOWS_EVENT = "client:get_windows";
/** Fetches a page of a Computer's Finder. */
export const GET_FINDER_EVENT = "client:get_finder";
/** Reads a resource of a Computer. */
export const READ_RESOURCE_EVENT = "client:read_resource";
/** Lists the resources of one MCP server. */
export const GET_RESOURCES_EVENT = "client:get_resources";
/** Lists resource templates; an extension of ours. */
export const GET_RESOURCE_TEMPLATES_EVENT = "client:get_resource_templates";
/** Lists the MCP servers of a Computer as they present themselves; an extension of ours. */
export const GET_MCP_SERVERS_EVENT = "client:get_mcp_servers";
/** Lists the prompts of MCP servers; an extension of ours. */
export const GET_PROMPTS_EVENT = "client:get_prompts";
/** Fills in a prompt of an MCP server; an extension of ours. */
export const GET_PROMPT_EVENT = "client:get_prompt";
/** Suggests values for a parameter of a resource template or an argument of a prompt; an extension of ours. */
export const GET_COMPLETION_EVENT = "client:get_completion";
/** Subscribes to a resource; an extension of ours. */
export const SUBSCRIBE_RESOURCE_EVENT = "client:subscribe_resource";
/** Ends a subscription to a resource; an extension of ours. */
export const UNSUBSCRIBE_RESOURCE_EVENT = "client:unsubscribe_resource";
/** Fetches the changes of subscribed resources and of lists of resources; an extension of ours. */
export const GET_RESOURCE_UPDATES_EVENT = "client:get_resource_updates";
/** Asks to be told of the progress of a tool call; an extension of ours. */
export const FOLLOW_CALL_EVENT = "client:follow_call";
/** Fetches an address from which the Agent can download a document itself. */
export const GET_DPE_EVENT = "client:get_dpe";
/** Fetches a chunk of a blob: a part that a Computer left out of a large answer. */
export const GET_BLOB_EVENT = "client:get_blob";
/** Uploads a chunk of a file to a Computer; since protocol 0.4. */
export const PUT_BLOB_EVENT = "client:put_blob";
/** Tells a Computer that the Agent can answer questions of its calls; an extension of ours. */
export const OPEN_INPUT_EVENT = "client:open_input";
/** Answers the question of a call; an extension of ours. */
export const ANSWER_INPUT_EVENT = "client:answer_input";

/** Lists the skills of a Computer. */
export const GET_SKILLS_EVENT = "client:get_skills";
/** Reads a file of a skill. */
export const GET_SKILL_EVENT = "client:get_skill";

// Requests and events of a member to the Server.
/** Lists the Computers of an office, and whether each would answer now; an extension of ours. */
export const LIST_PRESENCE_EVENT = "server:list_presence";
/** Joins an office. */
export const JOIN_OFFICE_EVENT = "server:join_office";
/** Leaves the office. */
export const LEAVE_OFFICE_EVENT = "server:leave_office";
/** Lists the members of the office. */
export const LIST_ROOM_EVENT = "server:list_room";
/** A Computer's configuration changed. */
export const UPDATE_CONFIG_EVENT = "server:update_config";
/** A Computer's tools changed. */
export const UPDATE_TOOL_LIST_EVENT = "server:update_tool_list";
/** A Computer's windows changed. */
export const UPDATE_DESKTOP_EVENT = "server:update_desktop";
/** A Computer's documents changed. */
export const UPDATE_FINDER_EVENT = "server:update_finder";
/** Subscribed resources or a list of resources changed on a Computer; an extension of ours. */
export const UPDATE_RESOURCES_EVENT = "server:update_resources";
/** The prompts of a Computer changed; an extension of ours. */
export const UPDATE_PROMPTS_EVENT = "server:update_prompts";
/** The skills of a Computer changed. */
export const UPDATE_SKILLS_EVENT = "server:update_skills";
/** A tool call that the Agent follows made progress; an extension of ours. */
export const UPDATE_PROGRESS_EVENT = "server:update_progress";
/** Cancels a tool call. */
export const CANCEL_TOOL_CALL_EVENT = "server:tool_call_cancel";

/** Replaces the credentials of the connection; an extension of ours. */
export const RENEW_CREDENTIALS_EVENT = "server:renew_credentials";

// Notifications of the Server to the other members of the office.
/** A member joined the office. */
export const ENTER_OFFICE_NOTIFICATION = "notify:enter_office";
/** A member left the office; a lost connection is a leave. */
export const LEAVE_OFFICE_NOTIFICATION = "notify:leave_office";
/** A Computer's configuration changed. */
export const UPDATE_CONFIG_NOTIFICATION = "notify:update_config";
/** A Computer's tools changed. */
export const UPDATE_TOOL_LIST_NOTIFICATION = "notify:update_tool_list";
/** A Computer's windows changed. */
export const UPDATE_DESKTOP_NOTIFICATION = "notify:update_desktop";
/** A Computer's documents changed. */
export const UPDATE_FINDER_NOTIFICATION = "notify:update_finder";
/** Subscribed resources or a list of resources changed on a Computer; an extension of ours. */
export const UPDATE_RESOURCES_NOTIFICATION = "notify:update_resources";
/** The prompts of a Computer changed; an extension of ours. */
export const UPDATE_PROMPTS_NOTIFICATION = "notify:update_prompts";
/** The skills of a Computer changed. */
export const UPDATE_SKILLS_NOTIFICATION = "notify:update_skills";
/** A tool call that the Agent follows made progress; an extension of ours. */
export const UPDATE_PROGRESS_NOTIFICATION = "notify:update_progress";
/** An Agent cancelled a tool call. */
export const CANCEL_TOOL_CALL_NOTIFICATION = "notify:tool_call_cancel";
/** The Server is about to close this connection; an extension of ours. */
export const CONNECTION_CLOSING_NOTIFICATION = "notify:connection_closing";

/** The credentials of this connection will expire; an extension of ours. */
export const CREDENTIALS_EXPIRING_NOTIFICATION = "notify:credentials_expiring";

/** The prefix of requests to a Computer. The Server relays them without reading them further. */
export const CLIENT_EVENT_PREFIX = "client:";
/** The prefix of requests and events to the Server. */
export const SERVER_EVENT_PREFIX = "server:";
/** A Computer's `server:update_<x>` is broadcast as `notify:update_<x>`. */
export const UPDATE_EVENT_PREFIX = "server:update_";
/** The broadcast form of {@linkcode UPDATE_EVENT_PREFIX}. */
export const UPDATE_NOTIFICATION_PREFIX = "notify:update_";
