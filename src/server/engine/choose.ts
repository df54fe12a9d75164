/** Chooses what serves WebSockets. */
import process from "node:process";
import { isGranted } from "../sockets/listening.ts";

/** What serves WebSockets: the Server's own implementation, or the npm package `ws`. */
export const WEB_SOCKET_ENGINES = ["builtin", "ws"] as const;

/** One of {@linkcode WEB_SOCKET_ENGINES}. */
export type WebSocketEngine = typeof WEB_SOCKET_ENGINES[number];

/** The environment variable that sets the default. */
export const ENGINE_VARIABLE = "A2C_ENGINE";

/**
 * Returns the engine to use: the given one, else that of the environment if it may be read, else `builtin`.
 *
 * @throws {TypeError} for an unknown engine.
 */
export function chooseEngine(given: string | undefined): WebSocketEngine {
  const name = given ?? readVariable() ?? "builtin";
  const engine = WEB_SOCKET_ENGINES.find((known) => known === name);
  if (engine !== undefined) return engine;
  throw new TypeError(`Cannot use engine "${name}": expected ${WEB_SOCKET_ENGINES.join(" or ")}`);
}

function readVariable(): string | undefined {
  if (!isGranted({ name: "env", variable: ENGINE_VARIABLE })) return undefined;
  return process.env[ENGINE_VARIABLE] || undefined;
}
