/** The names of the WebSocket engines, without the choice between them: `--help` needs no more. */

/** What serves WebSockets: the Server's own implementation, or the npm package `ws`. */
export type WebSocketEngine = "builtin" | "ws";

/** All engines. */
export const WEB_SOCKET_ENGINES: readonly WebSocketEngine[] = ["builtin", "ws"];

/** The environment variable that sets the default. */
export const ENGINE_VARIABLE = "A2C_ENGINE";
