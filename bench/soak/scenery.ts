/** The MCP servers of the soak, and the configuration of the Computer for them. */
import { fromFileUrl } from "@std/path";
import type { Profile } from "./profile.ts";
import type { Random } from "../../tests/fixtures/random.ts";

const SERVER_FILE = fromFileUrl(new URL("./mcp_server.ts", import.meta.url));

/** The environment variables that identify the processes of a soak, also after their parent has ended. */
export const RUN_VARIABLE = "A2C_SOAK_RUN";
export const TAG_VARIABLE = "A2C_SOAK_TAG";

/** The input that some servers use. */
export const INPUT_ID = "token";

/** The server over HTTP, which the Computer does not start. */
export const HTTP_SLOT = "web";

/** Chooses the behavior of one start at random. */
type DrawProfile = (random: Random) => Omit<Profile, "name">;

const DRAWS: Readonly<Record<string, DrawProfile>> = {
  calm: () => ({ updatesEveryMs: 1_500 }),
  quiet: () => ({}),
  crashy: (random) => ({ crashesAfterMs: random.integer(1_500, 20_000), updatesEveryMs: 900 }),
  brittle: () => ({}),
  sleepy: () => ({}),
  frozen: (random) => ({
    freezesAfterMs: random.integer(2_000, 25_000),
    stopsWhenFrozen: random.chance(0.5),
    updatesEveryMs: 1_100,
  }),
  noisy: () => ({ printsGarbage: true, updatesEveryMs: 700 }),
  stubborn: () => ({ isStubborn: true }),
  slow: (random) => ({ startMs: random.pick([1_500, 3_000, 20_000]), updatesEveryMs: 2_000 }),
};

/** The servers whose parameters name the input. */
const USES_INPUT: ReadonlySet<string> = new Set(["calm", "slow"]);

/** The current configuration of one server. */
export interface Slot {
  readonly name: string;
  readonly isPresent: boolean;
  readonly isDisabled: boolean;
  /** The number of changes of its parameters. */
  readonly generation: number;
  /** The number of changes of the environment variables in its parameters. */
  readonly environment: number;
  readonly profile: Profile;
  readonly toolMeta: Readonly<Record<string, unknown>>;
  readonly forbiddenTools: readonly string[];
}

/** The slots in order of precedence. */
export type Slots = readonly Slot[];

/** The surroundings of the servers. */
export interface Stage {
  /** Identifies the processes of this run. */
  readonly run: string;
  readonly httpUrl: string;
}

/** All servers, present and enabled. */
export function firstSlots(random: Random): Slots {
  return [...Object.keys(DRAWS), HTTP_SLOT].map((name) => ({
    name,
    isPresent: true,
    isDisabled: false,
    generation: 0,
    environment: 0,
    profile: drawProfile(name, random),
    toolMeta: {},
    forbiddenTools: [],
  }));
}

/** Chooses a new behavior for the server of that name. */
export function drawProfile(name: string, random: Random): Profile {
  return { name, ...DRAWS[name]?.(random) };
}

/** The mark of the processes of a slot. It changes with each change that must restart them. */
export function tagOf({ name, generation, environment }: Slot): string {
  return `${name}#${generation}.${environment}`;
}

/** Whether a process of the slot should run, according to its configuration. */
export function hasProcess({ name, isPresent, isDisabled }: Slot): boolean {
  return name !== HTTP_SLOT && isPresent && !isDisabled;
}

/** The configuration of the Computer. */
export function toConfig(slots: Slots, stage: Stage): Record<string, unknown> {
  const present = slots.filter(({ isPresent }) => isPresent);
  const servers = Object.fromEntries(present.map((slot) => [slot.name, toServer(slot, stage)]));
  const input = { id: INPUT_ID, type: "promptString", description: "A token", default: "first" };
  return { servers, inputs: [input] };
}

function toServer(slot: Slot, stage: Stage): Record<string, unknown> {
  const common = {
    disabled: slot.isDisabled,
    forbidden_tools: slot.forbiddenTools,
    default_tool_meta: { auto_apply: true },
    tool_meta: { [`${slot.name}_echo`]: slot.toolMeta },
  };
  if (slot.name === HTTP_SLOT) {
    return { ...common, type: "streamable", server_parameters: { url: stage.httpUrl } };
  }
  const args = [
    "run",
    "-A",
    "--no-config",
    "--no-lock",
    "--quiet",
    SERVER_FILE,
    JSON.stringify(slot.profile),
  ];
  const token = USES_INPUT.has(slot.name) ? { TOKEN: `\${input:${INPUT_ID}}` } : {};
  const env = { ...token, [RUN_VARIABLE]: stage.run, [TAG_VARIABLE]: tagOf(slot) };
  return { ...common, type: "stdio", server_parameters: { command: Deno.execPath(), args, env } };
}
