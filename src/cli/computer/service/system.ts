/** What of an operating system keeps programs running for a user. */
import { join } from "@std/path";
import { UsageError } from "../../outcome.ts";
import type { ServicePlan } from "./plan.ts";

/** What is known of the Computer of a service. */
export interface RunState {
  /** `waiting`: it ended, and is started again after a while. */
  readonly status: "running" | "waiting" | "stopped";
  /** Since when it runs, in milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
  /** How often it was started again. */
  readonly restarts?: number | undefined;
  /** How it ended last: an exit code, or the number of a signal. */
  readonly lastExit?: {
    readonly code?: number | undefined;
    readonly signal?: number | undefined;
    readonly atMs: number;
  } | undefined;
}

export interface LogsOptions {
  readonly lines: number;
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

/** systemd, launchd or the Task Scheduler. Each service has a file that says what runs. */
export interface ServiceSystem {
  readonly title: string;
  readonly folder: string;
  /** What stands around the id in the name of the file. */
  readonly fileName: readonly [before: string, after: string];
  /** Writes the file and starts the service, now and from then on; again where it is there already. */
  install(id: string, plan: ServicePlan): Promise<void>;
  /** Stops the service and removes its file. */
  remove(id: string): Promise<void>;
  stateOf(id: string): Promise<RunState>;
  /** When it starts by itself. */
  startText(): Promise<string>;
  /** The line that starts it again. */
  restartLine(id: string): string;
  printLogs(id: string, options: LogsOptions): Promise<void>;
}

export const AT_SIGN_IN = "after you sign in, until you sign out";

export type ServicePlace = Pick<ServiceSystem, "folder" | "fileName">;

export function serviceFile({ folder, fileName: [before, after] }: ServicePlace, id: string): string {
  return join(folder, `${before}${id}${after}`);
}

export async function isInstalled(place: ServicePlace, id: string): Promise<boolean> {
  return (await installedIds(place)).includes(id);
}

/** The ids of the services that are installed. */
export async function installedIds({ folder, fileName: [before, after] }: ServicePlace): Promise<string[]> {
  const files = await Array.fromAsync(Deno.readDir(folder)).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  });
  const names = files.map(({ name }) => name).filter((name) =>
    name.startsWith(before) && name.endsWith(after)
  );
  return names.map((name) => name.slice(before.length, -after.length)).sort();
}

/** The name of a Computer as a part of the names of files, units and tasks. */
export function serviceId(name: string): string {
  const hex = (character: string) => `%${character.charCodeAt(0).toString(16)}`;
  return encodeURIComponent(name).replaceAll(/[!'()*~_]/g, hex).replaceAll("%", "_");
}

export function nameOfId(id: string): string {
  return decodeURIComponent(id.replaceAll("_", "%"));
}

export function requireVariable(name: string): string {
  const value = Deno.env.get(name);
  if (value) return value;
  throw new UsageError(`Cannot find the services of this user: ${name} is not set`);
}

export function xmlText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
