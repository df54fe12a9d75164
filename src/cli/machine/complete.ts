/** Completes the options of a Computer by what the operator of its Server has approved. */
import type { Command } from "commander";
import type { JoinedServer } from "./joined_server.ts";
import { type ConnectionOptions, readCa, usesMachine } from "../credentials.ts";
import { commandLineOf } from "../program.ts";

/** How long a start waits for the Server, in milliseconds. */
const RENEWAL_MS = 3_000;

/**
 * Takes the name, and the office that the operator named first, from the Server of `--url` if this machine has joined it by code; keeps what it is
 * told. Again, it takes them anew. Resolves to that Server if the name is from there.
 */
export async function completeByMachine(
  program: Command,
  signal?: AbortSignal,
): Promise<JoinedServer | undefined> {
  const { url, name, office, ...options } = program.opts<Partial<ConnectionOptions>>();
  if (url === undefined || !usesMachine(options)) return undefined;
  // Loaded only now, since it reads JWTs.
  const { JoinedServer } = await import("./joined_server.ts");
  const joined = await JoinedServer.find(url, { ca: options.caFile && await readCa(options.caFile) });
  if (joined === undefined) return undefined;
  const late = AbortSignal.timeout(RENEWAL_MS);
  // The connection itself tells what is wrong.
  await joined.refresh(signal === undefined ? late : AbortSignal.any([signal, late])).catch(() => undefined);
  const isOpen = (option: "name" | "office", value: string | undefined) =>
    value === undefined || program.getOptionValueSource(option) === "implied";
  const [isNamed, isPlaced] = [isOpen("name", name), isOpen("office", office)];
  const own = [isNamed ? undefined : name, isPlaced ? undefined : office];
  program.setOptionValueWithSource("own", own, "implied");
  if (isNamed) program.setOptionValueWithSource("name", joined.machine?.name, "implied");
  if (isPlaced) program.setOptionValueWithSource("office", joined.machine?.offices[0], "implied");
  return isNamed ? joined : undefined;
}

/** Why a join by code does not give what is missing, and what to do; `undefined` where that has another cause. */
export async function hintOfMachine(options: Partial<ConnectionOptions>): Promise<string | undefined> {
  const { url, name, office } = options;
  if (url === undefined || (name !== undefined && office !== undefined)) return undefined;
  const { JoinedServer } = await import("./joined_server.ts");
  const joined = await JoinedServer.find(url);
  if (joined === undefined) {
    const others = await JoinedServer.servers();
    if (others.length > 0) return `this machine has not joined ${url}; it has joined ${others.join(", ")}`;
    return `see --help, or join by code with "${commandLineOf("computer")} join ${url}"`;
  }
  const given = options.token === undefined ? "another credential" : "--token (or A2C_TOKEN)";
  return `${given} is used in place of the join of this machine; leave it out`;
}
