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

/** The parts of a Computer whose changes are announced. */
export type UpdateKind = keyof typeof UPDATE_EVENTS;

/** Sends `server:update_*` events. Changes of one kind in quick succession become one event; the last is never lost. */
export class Announcer {
  readonly #throttles: Readonly<Record<UpdateKind, Throttle>>;

  constructor(emit: (event: string) => void) {
    const throttle = (kind: UpdateKind) => new Throttle(() => emit(UPDATE_EVENTS[kind]), UPDATE_INTERVAL_MS);
    this.#throttles = {
      config: throttle("config"),
      tools: throttle("tools"),
      desktop: throttle("desktop"),
      finder: throttle("finder"),
      resources: throttle("resources"),
      prompts: throttle("prompts"),
      skills: throttle("skills"),
    };
  }

  announce(kind: UpdateKind): void {
    this.#throttles[kind].request();
  }

  announceAll(): void {
    const { skills: _skills, ...throttles } = this.#throttles;
    for (const throttle of Object.values(throttles)) throttle.request();
  }

  close(): void {
    for (const throttle of Object.values(this.#throttles)) throttle.close();
  }
}
