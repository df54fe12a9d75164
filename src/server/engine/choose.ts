/** Chooses what serves WebSockets. */
import process from "node:process";
import { ENGINE_VARIABLE, WEB_SOCKET_ENGINES, type WebSocketEngine } from "./engines.ts";
import { isGranted } from "../sockets/listening.ts";

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
