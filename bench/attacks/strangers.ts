/**
 * Measures how much memory clients that are not admitted can make a Server with default options hold: by how much the
 * resident memory of the Server's process grows with one connection, with all connections that one address can open, and
 * with 1,000 and 10,000 clients at different addresses (127.0.X.Y, which requires Linux; 10,000 need as many open files). The value for one address is printed but has
 * no limit, because most of it is garbage that is not collected yet.
 *
 * ```sh
 * deno run -A bench/attacks/strangers.ts        # all attacks; exit code 2 if a limit is exceeded
 * deno run -A bench/attacks/strangers.ts 2 5    # only attacks 2 and 5
 * ```
 */
import { connect, type Socket } from "node:net";
import { frame, frameHead } from "../../tests/attacks/_raw_http.ts";
import { ServerProcess } from "../fixtures/server_process.ts";
import { residentMib } from "../soak/proc.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const STRANGERS = 1_000;
const MANY_STRANGERS = 10_000;
const HOLD_MS = 3_000;
const SAMPLE_MS = 100;
const MAX_OF_ONE_BYTES = MIB;
const MAX_OF_ALL_BYTES = 128 * MIB;
/** No more of them hold a place at a time; the rest is not collected yet. */
const MAX_OF_MANY_BYTES = 256 * MIB;
const UNDECIDED_SERVER = new URL("../fixtures/undecided_server.ts", import.meta.url);
const PERMISSIONS = ["--allow-net", "--ignore-env"];

/** What one client does over one TCP connection. */
interface Attack {
  readonly what: string;
  /** The number of TCP connections from one address in the worst case. */
  readonly flood: number;
  readonly bytes: readonly (string | Uint8Array)[];
  /** Whether to wait for the answer to the first part before the rest is sent, or for the answer to each part. */
  readonly waits?: "once" | "always";
  /** Whether the `AuthProvider` of the Server never decides. */
  readonly isUndecided?: boolean;
}

const QUERY = "EIO=4&a2c_version=0.2.0";
const handshake = (port: number) =>
  `GET /socket.io/?${QUERY}&transport=polling HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
const upgrade = (port: number) =>
  `GET /socket.io/?${QUERY}&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
  "Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\n\r\n";

/** A character outside Latin-1: with it, each character of a text takes two bytes in memory. */
const WIDE = "\u0436";
const CONNECT = "40/smcp,{}";
const EVENT = `42/smcp,["x",{"text":"${WIDE}${"x".repeat(KIB)}"}]`;
const EVENTS = 7;
/** `SID` is replaced by the id in the answer to the handshake. */
const post = (port: number, body: string) =>
  `POST /socket.io/?${QUERY}&transport=polling&sid=SID HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
  `Content-Length: ${new TextEncoder().encode(body).length}\r\n\r\n${body}`;

function attacksOn(port: number): readonly Attack[] {
  return [
    { what: "silent TCP connections", flood: 500, bytes: [] },
    {
      what: "request heads of 15 KiB without an end",
      flood: 500,
      bytes: [`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX: ${"x".repeat(15 * KIB)}`],
    },
    {
      what: "polling handshakes, pipelined",
      flood: 8,
      bytes: [handshake(port).repeat(2_500)],
    },
    {
      what: "websockets without CONNECT",
      flood: 500,
      bytes: [upgrade(port)],
      waits: "once",
    },
    {
      what: "frames of 16 MiB without an end, 60 KiB sent",
      flood: 100,
      bytes: [upgrade(port), frameHead(16 * MIB), new Uint8Array(60 * KIB)],
      waits: "once",
    },
    {
      what: "frames of 16 MiB, all sent",
      flood: 8,
      bytes: [upgrade(port), frameHead(16 * MIB), new Uint8Array(MIB)],
      waits: "once",
    },
    {
      what: "binary packets of 9 attachments of 1 MiB",
      flood: 8,
      bytes: [
        upgrade(port),
        frame('4510-/smcp,["x",{"_placeholder":true,"num":0}]'),
        ...Array.from({ length: 9 }, () => frame(new Uint8Array(MIB), { opcode: 2 })),
      ],
      waits: "once",
    },
    {
      what: "events over a websocket while the provider decides",
      flood: 64,
      bytes: [
        upgrade(port),
        frame(CONNECT),
        ...Array.from({ length: EVENTS }, () => frame(EVENT)),
      ],
      waits: "once",
      isUndecided: true,
    },
    {
      what: "events by polling while the provider decides",
      flood: 64,
      bytes: [
        handshake(port),
        post(port, CONNECT),
        ...Array.from({ length: EVENTS }, () => post(port, EVENT)),
      ],
      waits: "always",
      isUndecided: true,
    },
  ];
}

interface Outcome {
  readonly peakBytes: number;
  readonly heldBytes: number;
}

/** Opens the connections from all addresses, keeps them open, and returns by how much the memory of the Server grew. */
async function attack(
  victim: ServerProcess,
  { attack, addresses, each }: {
    readonly attack: Attack;
    readonly addresses: readonly string[];
    readonly each: number;
  },
): Promise<Outcome> {
  const before = await residentMib(victim.pid);
  const sockets = addresses.flatMap((address) =>
    Array.from({ length: each }, () => open(victim.port, { address, attack }))
  );
  const samples: number[] = [];
  for (let ms = 0; ms < HOLD_MS; ms += SAMPLE_MS) {
    await delay(SAMPLE_MS);
    samples.push((await residentMib(victim.pid) - before) * MIB);
  }
  for (const socket of sockets) socket.destroy();
  return { peakBytes: Math.max(...samples), heldBytes: samples.at(-1) ?? NaN };
}

function open(
  port: number,
  { address, attack }: { readonly address: string; readonly attack: Attack },
): Socket {
  const socket = connect({ port, host: "127.0.0.1", localAddress: address });
  const parts = [...attack.bytes];
  let sid: string | undefined;
  const send = (count: number) => {
    for (const part of parts.splice(0, count)) {
      socket.write(typeof part === "string" ? part.replace("SID", sid ?? "") : part);
    }
  };
  const onData = (answer: Uint8Array) => {
    sid ??= /"sid":"([^"]+)"/.exec(new TextDecoder().decode(answer))?.[1];
    send(attack.waits === "always" ? 1 : Infinity);
  };
  socket.on("error", () => {});
  socket.on("data", onData);
  send(attack.waits === undefined ? Infinity : 1);
  return socket;
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const many = Array.from(
  { length: MANY_STRANGERS },
  (_, i) => `127.0.${1 + Math.floor(i / 250)}.${1 + i % 250}`,
);

/** Each case has a new Server, which a small attack of the same kind has warmed up. */
async function measure(
  index: number,
  { addresses, each }: { readonly addresses: readonly string[]; readonly each: number },
): Promise<Outcome> {
  const isUndecided = attacksOn(0)[index]?.isUndecided ?? false;
  await using victim = await ServerProcess.start(PERMISSIONS, isUndecided ? UNDECIDED_SERVER : undefined);
  const chosen = attacksOn(victim.port)[index];
  if (chosen === undefined) throw new RangeError(`Cannot measure attack ${index}: no such attack`);
  await attack(victim, { attack: chosen, addresses: ["127.0.9.9"], each: 20 });
  await delay(HOLD_MS);
  return await attack(victim, { attack: chosen, addresses, each });
}

const toMib = (bytes: number) => `${(bytes / MIB).toFixed(1)} MiB`;
let isKept = true;
const chosen = Deno.args.map(Number);
for (const [index, { what, flood }] of attacksOn(0).entries()) {
  if (chosen.length > 0 && !chosen.includes(index)) continue;
  const cases = [
    { who: "one connection", addresses: ["127.0.0.1"], each: 1, limitBytes: MAX_OF_ONE_BYTES },
    { who: `one address, ${flood} connections`, addresses: ["127.0.0.1"], each: flood, limitBytes: Infinity },
    ...[STRANGERS, MANY_STRANGERS].map((count) => ({
      who: `${count} strangers`,
      addresses: many.slice(0, count),
      each: 1,
      limitBytes: count === STRANGERS ? MAX_OF_ALL_BYTES : MAX_OF_MANY_BYTES,
    })),
  ];
  for (const { who, addresses, each, limitBytes } of cases) {
    const { peakBytes, heldBytes } = await measure(index, { addresses, each });
    isKept &&= heldBytes <= limitBytes;
    const limit = limitBytes === Infinity ? "" : ` (held at most ${toMib(limitBytes)})`;
    console.log(`${what}, ${who}: held ${toMib(heldBytes)}, peak ${toMib(peakBytes)}${limit}`);
  }
}
Deno.exit(isKept ? 0 : 2);
