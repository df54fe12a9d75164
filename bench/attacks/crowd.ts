/**
 * Measures how much memory one admitted member, and many of them, can make a Server with default options hold. Each row has
 * a new Server, which idle members have warmed up. Linux only; 10,000 members need a limit of 16,000 open files.
 *
 * ```sh
 * deno run -A bench/attacks/crowd.ts       # all rows; exit code 2 if a limit is exceeded
 * deno run -A bench/attacks/crowd.ts 2 3   # only rows 2 and 3
 * ```
 */
import { frameHead } from "../../tests/attacks/_raw_http.ts";
import { RawMember } from "../../tests/attacks/_raw_member.ts";
import { ServerProcess } from "../fixtures/server_process.ts";
import { residentMib } from "../soak/proc.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
/** The Server admits 64 connections of one address at a time. */
const AT_ONCE = 32;
const SETTLE_MS = 2_000;
/** The budget of all messages on their way, and half as much for copies and garbage. */
const MAX_MESSAGES_MIB = 512 * 1.5;
const MAX_IDLE_KIB = 80;

/** What each member does, after it has joined an office of its own. */
interface Row {
  readonly what: string;
  readonly counts: readonly number[];
  /** The most memory of so many members. */
  readonly maxMib: (count: number) => number;
  readonly act: (member: RawMember, server: ServerProcess, index: number) => Promise<void>;
}

const idleMib = (count: number) => 8 + count * MAX_IDLE_KIB / KIB;

const ROWS: readonly Row[] = [
  { what: "idle", counts: [1, 1_000, 10_000], maxMib: idleMib, act: async () => {} },
  {
    what: "128 KiB of a message of 16 MiB",
    counts: [1, 1_000, 10_000],
    maxMib: (count) => idleMib(count) + Math.min(MAX_MESSAGES_MIB, count * 0.5),
    act: (member) => begin(member, 128 * KIB),
  },
  {
    what: "15 MiB of a message of 16 MiB",
    counts: [1, 100],
    maxMib: (count) => idleMib(count) + Math.min(MAX_MESSAGES_MIB, count * 48),
    act: (member) => begin(member, 15 * MIB),
  },
  {
    what: "a Computer that does not read, and 15 MiB for it",
    counts: [1, 100],
    maxMib: (count) => idleMib(count) + Math.min(MAX_MESSAGES_MIB, count * 64),
    act: fill,
  },
];

async function begin(member: RawMember, bytes: number): Promise<void> {
  await member.sendBytes(frameHead(16 * MIB));
  await member.sendBytes(new Uint8Array(bytes));
}

/** Sends 15 requests of 1 MiB to a Computer that does not read. */
async function fill(_member: RawMember, server: ServerProcess, index: number): Promise<void> {
  using agent = await RawMember.join(server, { role: "agent", name: "a", office_id: `o${index}` });
  const text = "x".repeat(MIB);
  for (let i = 0; i < 15; i++) {
    await agent.send(`42/smcp,["client:x",{"agent":"a","req_id":"r${i}","computer":"c","text":"${text}"}]`);
  }
  await agent.send('42/smcp,9["server:list_room",{"req_id":"l","office_id":"none"}]');
  await agent.readUntil("43/smcp,9[");
}

async function measure(
  row: Row,
  count: number,
): Promise<{ readonly heldMib: number; readonly peakMib: number }> {
  await using server = await ServerProcess.start();
  const join = (index: number) =>
    RawMember.join(server, { role: "computer", name: "c", office_id: `o${index}` });
  const open = async (index: number) => {
    const member = await join(index);
    await row.act(member, server, index);
    return member;
  };
  for (let index = 0; index < AT_ONCE; index++) (await join(-1 - index))[Symbol.dispose]();
  await delay(SETTLE_MS);
  const before = await residentMib(server.pid);
  const members: RawMember[] = [];
  let peak = before;
  for (let index = 0; index < count; index += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - index) }, (_, i) => open(index + i));
    members.push(...await Promise.all(batch));
    peak = Math.max(peak, await residentMib(server.pid));
  }
  await delay(SETTLE_MS);
  const held = await residentMib(server.pid);
  for (const member of members) member[Symbol.dispose]();
  return { heldMib: held - before, peakMib: Math.max(peak, held) - before };
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

let isKept = true;
const chosen = Deno.args.map(Number);
for (const [index, row] of ROWS.entries()) {
  if (chosen.length > 0 && !chosen.includes(index)) continue;
  for (const count of row.counts) {
    const { heldMib, peakMib } = await measure(row, count);
    const maxMib = row.maxMib(count);
    const isOver = heldMib > maxMib;
    isKept &&= !isOver;
    const who = `member, ${row.what}, ${count.toLocaleString("en-US")}`;
    const figures = `held ${heldMib.toFixed(1)} MiB, peak ${peakMib.toFixed(1)} MiB`;
    const verdict = `(held at most ${maxMib.toFixed(0)} MiB${isOver ? ", FAILED" : ""})`;
    console.log(`${who}: ${figures} ${verdict}`);
  }
}
Deno.exit(isKept ? 0 : 2);
