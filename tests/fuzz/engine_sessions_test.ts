import { assertEquals } from "@std/assert";
import type { EngineSession } from "../../src/server/engine/session.ts";
import { concat, frame, frameHead, RawConnection, toText } from "../attacks/_raw_http.ts";
import { Random } from "../fixtures/random.ts";
import { sized } from "../fixtures/test_size.ts";
import { EnginePort } from "../unit/server/engine/_engine_port.ts";

const SESSIONS = sized({ reduced: 100, full: 3_000 });
const MAX_STEPS = 16;
const BODIES = ["4a", "3", "4a\x1e4b\x1ebAQID", "1", "x", `4${"q".repeat(100_000)}`];

/** A session, and the connections of a client that keeps no rule. */
class OddClient {
  readonly connections: RawConnection[] = [];
  readonly #port: EnginePort;
  readonly #session: EngineSession;
  readonly #random: Random;
  #webSocket: RawConnection | undefined;

  constructor(port: EnginePort, { session, connection, random }: {
    readonly session: EngineSession;
    readonly connection: RawConnection | undefined;
    readonly random: Random;
  }) {
    this.#port = port;
    this.#session = session;
    this.#random = random;
    this.#webSocket = connection;
    if (connection !== undefined) this.connections.push(connection);
  }

  /** What it may do next, and what may happen to its session. */
  readonly steps: Readonly<Record<string, () => void>> = {
    write: () => this.#session.write(this.#random.pick(["a", "x".repeat(2_000), "y".repeat(300_000)])),
    writeBytes: () => this.#session.write(new Uint8Array(this.#random.pick([1, 70_000]))),
    get: () => this.#request({ headers: this.#random.chance(0.5) ? { "Accept-Encoding": "gzip" } : {} }),
    post: () => this.#request({ method: "POST", body: this.#random.pick(BODIES) }),
    beginPost: () => this.#request({ method: "POST", headers: { "Content-Length": "50000" }, body: "4abc" }),
    probe: () => this.#probe(),
    finish: () => this.#webSocket?.write(frame("5")),
    message: () => this.#webSocket?.write(frame("4hello")),
    beginMessage: () => this.#webSocket?.write(concat([frameHead(80_000), new Uint8Array(70_000)])),
    garbage: () => this.#webSocket?.write(Uint8Array.of(0xff, 0xff, 1, 2)),
    closeFrame: () => this.#webSocket?.write(frame("", { opcode: 8 })),
    cut: () => void this.#any()?.socket.destroy(),
    finishWriting: () => void this.#any()?.socket.end(),
    pause: () => void this.#any()?.socket.pause(),
    resume: () => void this.#any()?.socket.resume(),
    wait: () => this.#port.clock.advance(this.#random.pick([100, 1_000, 11_000, 31_000])),
    close: () => this.#session.close(),
    fail: () => this.#session.fail("parse error"),
    terminate: () => this.#session.terminate(),
  };

  async cutAll(): Promise<void> {
    for (const connection of this.connections) await connection[Symbol.asyncDispose]();
  }

  #any(): RawConnection | undefined {
    return this.connections.length === 0 ? undefined : this.#random.pick(this.connections);
  }

  #request(request: { method?: string; headers?: Record<string, string>; body?: string }): void {
    const connection = new RawConnection(this.#port.port);
    this.connections.push(connection);
    connection.write(toText(this.#port.port, { target: this.#target("polling"), ...request }));
  }

  #probe(): void {
    // The port refuses a second one.
    const { transport, probe } = this.#session;
    if (transport.name === "websocket" || probe !== undefined || this.#webSocket !== undefined) return;
    this.#webSocket = this.#port.connect(this.#target("websocket"));
    this.connections.push(this.#webSocket);
    this.#webSocket.write(frame("2probe"));
  }

  #target(transport: string): string {
    return `/socket.io/?EIO=4&transport=${transport}&sid=${this.#session.id}`;
  }
}

Deno.test("whatever a client does, its session ends once, and no byte, timer or connection of it is left", async () => {
  await using port = await EnginePort.open();
  for (let seed = 1; seed <= SESSIONS; seed++) {
    const random = new Random(seed);
    const opened = random.chance(0.3)
      ? await port.openWebSocket()
      : { ...await port.openPolling(), connection: undefined };
    const client = new OddClient(port, { ...opened, random });
    let ends = 0;
    opened.session.on("close", () => void ends++);
    const names: string[] = [];
    for (let left = random.integer(3, MAX_STEPS); left > 0; left--) {
      const name = random.pick(Object.keys(client.steps));
      names.push(name);
      client.steps[name]?.();
      if (random.chance(0.7)) await new Promise((resolve) => setTimeout(resolve, 0));
    }
    await client.cutAll();
    // The last poll that may come, and the two time-outs of the heartbeat.
    for (let count = 0; count < 3; count++) port.clock.advance(30_000);
    await port.untilEmpty();
    port.clock.advance(100_000);
    assertEquals([ends, port.clock.isArmed], [1, false], `${seed}: ${names.join(" ")}`);
  }
});
