/** Fetches a Computer's views again after changes, one request at a time for each view. */
import { delay } from "../async/backoff.ts";
import { BoundedMap } from "../async/bounded_collections.ts";
import { PatientLimiter } from "../async/limiter.ts";
import type { Logger } from "../log.ts";
import { isRecord } from "../json/json.ts";
import { UPDATE_SKILLS_NOTIFICATION } from "../protocol/events.ts";
import { describeError } from "../text/text.ts";
import type { AgentEvent, AgentEventName, ComputerViewName } from "./events.ts";
import type { Listeners } from "./listeners.ts";
import { UnsupportedRequestError } from "../protocol/errors.ts";
import type { ResourceUpdate } from "../protocol/resource_updates.ts";
import { isNotServed } from "./requests.ts";
import type { RemoteComputer } from "./remote_computer.ts";

/** The most views that are fetched at the same time, for all Computers together, besides those that are late. */
export const MAX_CONCURRENT_REFRESHES = 16;
/** From when on a view is late, in milliseconds: a Computer that does not answer keeps no other one waiting. */
const LATE_MS = 5_000;
/** How long a view rests after it was fetched, in milliseconds. While changes go on, each rest is twice the one before. */
const FIRST_REST_MS = 200;
/** The longest rest, in milliseconds: of a list, whose every fetch may be large, and of what people watch. */
const MAX_REST_MS = { list: 3_200, live: 800 } as const;
const LIVE_VIEWS: ReadonlySet<ComputerViewName> = new Set(["desktop", "resources"]);

/** The event of each view. A view is fetched only while its event has a listener. */
const REFRESHED_EVENTS: Readonly<Record<ComputerViewName, AgentEventName>> = {
  tools: "toolsRefreshed",
  config: "configRefreshed",
  desktop: "desktopRefreshed",
  finder: "finderRefreshed",
  resources: "resourcesUpdated",
  prompts: "promptsRefreshed",
  skills: "skillsRefreshed",
};

const ALL_VIEWS = Object.keys(REFRESHED_EVENTS) as readonly ComputerViewName[];
/** The views that a Computer need not have. */
const OPTIONAL_VIEWS: ReadonlySet<ComputerViewName> = new Set(["prompts", "skills"]);

interface Refresh {
  readonly computer: string;
  readonly view: ComputerViewName;
}

export interface RefreshSource {
  readonly fetch: (refresh: Refresh) => Promise<AgentEvent | undefined>;
  readonly listComputers: () => Promise<readonly string[]>;
}

/**
 * Keeps the views that have a listener up to date. The first change of a view is fetched at once. However often the view
 * changes while it is fetched, and while it rests after that, it is fetched once more at the end of the rest.
 */
export class Refresher {
  readonly #listeners: Listeners;
  readonly #source: RefreshSource;
  readonly #log: Logger;
  readonly #limiter = new PatientLimiter(MAX_CONCURRENT_REFRESHES, LATE_MS);
  /** The views that are fetched or rest, and whether they have to be fetched once more. */
  readonly #busy = new Map<string, boolean>();
  readonly #ending = new AbortController();

  constructor(listeners: Listeners, source: RefreshSource, options: { readonly logger: Logger }) {
    this.#listeners = listeners;
    this.#source = source;
    this.#log = options.logger;
    this.#listen();
  }

  stop(): void {
    this.#ending.abort();
  }

  #listen(): void {
    const listeners = this.#listeners;
    listeners.on("updateToolList", ({ computer }) => this.#refresh(computer, ["tools"]));
    // The reference Computer announces new tools with `update_config` only.
    listeners.on("updateConfig", ({ computer }) => this.#refresh(computer, ["config", "tools"]));
    listeners.on("updateDesktop", ({ computer }) => this.#refresh(computer, ["desktop"]));
    listeners.on("updateFinder", ({ computer }) => this.#refresh(computer, ["finder"]));
    listeners.on("updateResources", ({ computer }) => this.#refresh(computer, ["resources"]));
    listeners.on("updatePrompts", ({ computer }) => this.#refresh(computer, ["prompts"]));
    listeners.on("notification", ({ event, body }) => {
      const computer = event === UPDATE_SKILLS_NOTIFICATION && isRecord(body) ? body["computer"] : undefined;
      if (typeof computer === "string") this.#refresh(computer, ["skills"]);
    });
    listeners.on("enterOffice", ({ role, name }) => {
      if (role === "computer") this.#refresh(name, ALL_VIEWS);
    });
    listeners.on("leaveOffice", ({ role, name }) => {
      if (role === "computer") this.#forget(name);
    });
    listeners.on("reconnected", () => this.#refreshOffice());
  }

  #refresh(computer: string, views: readonly ComputerViewName[]): void {
    for (const view of views.filter((view) => this.#isWanted(view))) {
      const key = `${view} ${computer}`;
      const isBusy = this.#busy.has(key);
      this.#busy.set(key, true);
      // What is stopped is fetched no more.
      if (!isBusy) this.#follow(key, { computer, view }).catch(() => undefined);
    }
  }

  #isWanted(view: ComputerViewName): boolean {
    return !this.#isStopped && this.#listeners.has(REFRESHED_EVENTS[view]);
  }

  get #isStopped(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Drops the waiting fetches of a Computer that left the office: it would not answer them. */
  #forget(computer: string): void {
    for (const view of ALL_VIEWS) {
      const key = `${view} ${computer}`;
      if (this.#busy.has(key)) this.#busy.set(key, false);
    }
  }

  /** A Computer with thousands of tools that change all the time would keep the Agent fetching them. */
  async #follow(key: string, refresh: Refresh): Promise<void> {
    const { signal } = this.#ending;
    const maxMs = MAX_REST_MS[LIVE_VIEWS.has(refresh.view) ? "live" : "list"];
    for (let restMs = FIRST_REST_MS; this.#busy.get(key) === true; restMs = Math.min(restMs * 2, maxMs)) {
      await this.#limiter.run(async () => {
        if (this.#busy.get(key) === true) {
          this.#busy.set(key, false);
          await this.#run(refresh);
        }
      }, signal);
      await delay(restMs, signal);
    }
    this.#busy.delete(key);
  }

  /** Never rejects. */
  async #run({ computer, view }: Refresh): Promise<void> {
    const event = await this.#source.fetch({ computer, view }).catch((error: unknown): AgentEvent => {
      if (!this.#isStopped) this.#log.warn("refresh failed", { computer, view, error: describeError(error) });
      return { type: "refreshFailed", computer, view, error };
    });
    if (!this.#isStopped && event !== undefined) this.#listeners.tell(event);
  }

  /** Fetches all views after a reconnection: notifications sent during the loss were missed. */
  async #refreshOffice(): Promise<void> {
    if (!ALL_VIEWS.some((view) => this.#isWanted(view))) return;
    const computers = await this.#source.listComputers();
    for (const computer of computers) this.#refresh(computer, ALL_VIEWS);
  }
}

/** Fetches a view as an event; `undefined` when there is no news, or when the Computer does not have the view. */
export async function fetchView(
  remote: RemoteComputer,
  { view, updates }: { readonly view: ComputerViewName; readonly updates: UpdateReader },
): Promise<AgentEvent | undefined> {
  const { name: computer } = remote;
  try {
    switch (view) {
      case "tools":
        return { type: "toolsRefreshed", computer, tools: await remote.getTools() };
      case "config":
        return { type: "configRefreshed", computer, config: await remote.getConfig() };
      case "desktop":
        return { type: "desktopRefreshed", computer, desktops: await remote.getDesktop() };
      case "finder":
        return { type: "finderRefreshed", computer, ...await remote.getFinder() };
      case "resources":
        return await updates.fetch(remote);
      case "prompts":
        return { type: "promptsRefreshed", computer, prompts: (await remote.getPrompts()).prompts };
      case "skills":
        return { type: "skillsRefreshed", computer, skills: await remote.getSkills() };
    }
  } catch (error) {
    if (error instanceof UnsupportedRequestError && OPTIONAL_VIEWS.has(view)) return undefined;
    throw error;
  }
}

/** The most Computers whose cursors are kept. Without a cursor, all updates that a Computer keeps are read. */
const MAX_CURSORS = 1_000;
const MAX_ANSWERS = 20;
/** The time limit for one answer: some other implementations do not answer unknown events. */
const TIMEOUT_MS = 5_000;

export class UpdateReader {
  readonly #cursors = new BoundedMap<string, string>(MAX_CURSORS);

  /**
   * Fetches the changes on a Computer since the last call; `undefined` when there are none, or when the Computer does
   * not support updates. When a request fails, the updates of the earlier answers are returned: a Computer sends each
   * update once.
   */
  async fetch(remote: RemoteComputer): Promise<AgentEvent | undefined> {
    const updates: ResourceUpdate[] = [];
    try {
      for (let answers = 0; answers < MAX_ANSWERS; answers++) {
        const cursor = this.#cursors.get(remote.name);
        const answer = await remote.getResourceUpdates({ cursor, timeoutMs: TIMEOUT_MS });
        updates.push(...answer.updates);
        this.#cursors.set(remote.name, answer.cursor);
        if (!answer.hasMore) break;
      }
    } catch (error) {
      if (updates.length === 0 && !isNotServed(error)) throw error;
    }
    return updates.length === 0 ? undefined : { type: "resourcesUpdated", computer: remote.name, updates };
  }
}
