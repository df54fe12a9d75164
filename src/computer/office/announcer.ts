/** Announces changes of this Computer to its office. */
import { Throttle } from "../../async/throttle.ts";
import {
  UPDATE_CONFIG_EVENT,
  UPDATE_DESKTOP_EVENT,
  UPDATE_FINDER_EVENT,
  UPDATE_PROMPTS_EVENT,
  UPDATE_RESOURCES_EVENT,
  UPDATE_SKILLS_EVENT,
  UPDATE_TOOL_LIST_EVENT,
} from "../../protocol/events.ts";

const UPDATE_INTERVAL_MS = 50;

const UPDATE_EVENTS = {
  config: UPDATE_CONFIG_EVENT,
  tools: UPDATE_TOOL_LIST_EVENT,
  desktop: UPDATE_DESKTOP_EVENT,
  finder: UPDATE_FINDER_EVENT,
  resources: UPDATE_RESOURCES_EVENT,
  prompts: UPDATE_PROMPTS_EVENT,
  skills: UPDATE_SKILLS_EVENT,
} as const;

export type UpdateKind = keyof typeof UPDATE_EVENTS;

/** Sends `server:update_*` events. Changes of one kind in quick succession become one event; the last is never lost. */
export class Announcer {
  readonly #throttles = new Map<string, Throttle>();

  constructor(emit: (event: string) => void) {
    for (const [kind, event] of Object.entries(UPDATE_EVENTS)) {
      this.#throttles.set(kind, new Throttle(() => emit(event), UPDATE_INTERVAL_MS));
    }
  }

  announce(kind: UpdateKind): void {
    this.#throttles.get(kind)?.request();
  }

  /** All but skills, which not every Computer has. */
  announceAll(): void {
    for (const [kind, throttle] of this.#throttles) if (kind !== "skills") throttle.request();
  }

  close(): void {
    for (const throttle of this.#throttles.values()) throttle.close();
  }
}
