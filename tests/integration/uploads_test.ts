import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { join } from "@std/path";
import { Agent } from "../../src/agent/agent.ts";
import type { RemoteComputer } from "../../src/agent/remote_computer.ts";
import { Computer } from "../../src/computer/computer.ts";
import { SmcpError, UnsupportedRequestError } from "../../src/protocol/errors.ts";
import { RequestTimeoutError } from "../../src/link/errors.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { within } from "../fixtures/within.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice, type OfficeOptions } from "./_computer_office.ts";
import { NOTHING, ScriptedComputer } from "./_scripted_computer.ts";

const bytes = Uint8Array.from({ length: 5_000_000 }, (_, index) => (index * 7 + (index >> 8)) % 251);

/** An office at 0.4 with a folder that is removed with it. */
class UploadOffice implements AsyncDisposable {
  readonly folder: string;
  readonly #office: ComputerOffice;

  private constructor(office: ComputerOffice, folder: string) {
    this.#office = office;
    this.folder = folder;
  }

  /** The Computer takes uploads to the folder, unless `uploads` says otherwise. */
  static async open(
    options: OfficeOptions & { readonly config?: unknown } = {},
  ): Promise<UploadOffice> {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    const { config = { servers: {} }, ...rest } = options;
    const office = await ComputerOffice.open(config, { protocolVersion: "0.4", uploads: folder, ...rest });
    return new UploadOffice(office, folder);
  }

  get laptop(): RemoteComputer {
    return this.#office.laptop;
  }

  get agent(): Agent {
    return this.#office.agent;
  }

  get computer(): Computer {
    return this.#office.computer;
  }

  /** Another Computer, `small`, that takes one upload at a time. */
  async joinSmall(): Promise<Computer> {
    const uploads = { folder: this.folder, maxConcurrent: 1 };
    const small = Computer.open({ name: "small", config: { servers: {} }, protocolVersion: "0.4", uploads });
    await small.join({ url: this.url, office: "lab" });
    return small;
  }

  get url(): string {
    return this.#office.server.url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#office[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }
}

async function refusal(request: Promise<unknown>): Promise<unknown> {
  const error = await assertRejects(() => request, SmcpError);
  return [error.code, error.details?.["reason"]];
}

Deno.test("an Agent uploads bytes, a file and a stream, and a tool finds them", async () => {
  await using office = await UploadOffice.open({ server: { maxPayloadBytes: 100_000 } });
  const file = new File([bytes.subarray(0, 300_000)], "a b.bin");
  const sources = [bytes, file, ReadableStream.from([bytes.subarray(0, 1), bytes.subarray(1, 3)])];
  const sizes = [bytes.length, 300_000, 3];
  for (const [index, source] of sources.entries()) {
    const { landingPath, totalSize, sha256 } = await office.laptop.putBlob(source);
    assertEquals(await Deno.readFile(landingPath), bytes.subarray(0, sizes[index]));
    assertEquals(totalSize, sizes[index]);
    assertMatch(sha256, /^[0-9a-f]{64}$/);
    if (source === file) assert(landingPath.endsWith("_a_b.bin"), landingPath);
  }
  const { landingPath } = await office.laptop.putBlob(bytes.subarray(0, 10), { name: "../x.txt" });
  assert(landingPath.endsWith("_x.txt"), landingPath);
});

Deno.test("uploads go on while a tool runs", async () => {
  const tools = [{ name: "slow", inputSchema: { type: "object" } }];
  const config = scriptedServers({ s: { tools, hang: ["tools/call slow"] } });
  await using office = await UploadOffice.open({ config });
  const [tool] = (await office.laptop.getTools()).filter(({ name }) => name.endsWith("slow"));
  const stopping = new AbortController();
  const call = office.laptop.callTool(tool?.name ?? "", {}, { signal: stopping.signal }).catch(() =>
    "stopped"
  );
  const uploads = [1_000_000, 999_999, 2].map((size) => office.laptop.putBlob(bytes.subarray(0, size)));
  for (const { landingPath, totalSize } of await Promise.all(uploads)) {
    assertEquals(await Deno.readFile(landingPath), bytes.subarray(0, totalSize));
  }
  stopping.abort();
  await call;
});

Deno.test("an Agent waits for a place, and says so when its time is over", async () => {
  await using office = await UploadOffice.open();
  await using _small = await office.joinSmall();
  const small = office.agent.computer("small");
  const sha256 = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  const first = { chunk_offset: 0, eof: false, blob: "AAAA", total_size: bytes.length, sha256 };
  const put = (body: Record<string, unknown>) =>
    office.agent.request("client:put_blob", { computer: "small", ...body });
  const { upload_id } = await put(first) as Record<string, unknown>;
  const late = await assertRejects(
    () => small.putBlob(bytes.subarray(0, 5), { timeoutMs: 1_000 }),
    RequestTimeoutError,
  );
  assertStringIncludes(late.message, "no place");
  const waiting = small.putBlob(bytes.subarray(0, 5));
  // More bytes than were declared end the upload that has the place.
  const blob = bytes.toBase64();
  assertEquals(await refusal(put({ upload_id, chunk_offset: 3, eof: false, blob })), [4019, "range"]);
  assertEquals((await waiting).totalSize, 5);
});

Deno.test(
  "an upload of what gives nothing ends in time, or with its signal, and stops reading it",
  async () => {
    await using office = await UploadOffice.open();
    const never = () => new Promise<void>(() => {});
    const stopped: unknown[] = [];
    const stuck = (first: readonly Uint8Array[] = []) =>
      new ReadableStream<Uint8Array>({
        start: (controller) => first.forEach((piece) => controller.enqueue(piece)),
        pull: never,
        cancel(reason) {
          stopped.push(reason);
          return never();
        },
      });
    const stuckFile = { size: 5, stream: () => stuck([bytes.subarray(0, 2)]) };
    for (const source of [stuck([bytes.subarray(0, 5)]), stuckFile]) {
      const stopping = new AbortController();
      const late = office.laptop.putBlob(source, { timeoutMs: 200 });
      const error = await assertRejects(() => within(late, "the end of the upload"), RequestTimeoutError);
      const aborted = office.laptop.putBlob(stuck(), { signal: stopping.signal });
      stopping.abort("enough");
      assertEquals(await within(aborted.catch((reason) => reason), "the end of the upload"), "enough");
      assertEquals(stopped.splice(0), [error, "enough"]);
    }
  },
);

Deno.test("a Computer without a folder refuses uploads, and says how they are turned on", async () => {
  await using office = await UploadOffice.open({ uploads: undefined });
  const error = await assertRejects(() => office.laptop.putBlob(bytes), SmcpError);
  assertEquals([error.code, error.details], [4019, { reason: "forbidden" }]);
  assertStringIncludes(error.message, "--uploads");
});

Deno.test("a config turns uploads on and off while the Computer runs", async () => {
  await using office = await UploadOffice.open({ uploads: undefined });
  const uploads = join(office.folder, "inbox");
  await office.computer.reconfigure({ servers: {}, uploads });
  const { landingPath } = await office.laptop.putBlob(bytes.subarray(0, 3));
  assert(landingPath.startsWith(uploads), landingPath);
  await office.computer.reconfigure({ servers: {} });
  assertEquals(await refusal(office.laptop.putBlob(bytes)), [4019, "forbidden"]);
  assertEquals(await Deno.readFile(landingPath), bytes.subarray(0, 3));
});

Deno.test(
  "a file in place of the folder for uploads is named in the log of the Computer",
  async () => {
    const file = await Deno.makeTempFile();
    try {
      const log = new LogBook();
      const options = {
        name: "laptop",
        config: { servers: {} },
        protocolVersion: "0.4",
        logger: log,
      } as const;
      await using _ = Computer.open({ ...options, uploads: file });
      const { level, fields } = await log.until(({ message }) => message.includes("folder for uploads"));
      assertEquals([level, fields["folder"]], ["warn", file]);
      assertStringIncludes(String(fields["error"]), "it is a file");
    } finally {
      await Deno.remove(file);
    }
  },
);

Deno.test("an open upload ends when the Agent leaves", async () => {
  await using office = await UploadOffice.open({ uploads: undefined });
  await using _small = await office.joinSmall();
  const first = { chunk_offset: 0, eof: false, blob: "AAAA", total_size: 5, sha256: "0".repeat(64) };
  await office.agent.request("client:put_blob", { computer: "small", ...first });
  await office.agent.close();
  await using agent = await Agent.connect({
    url: office.url,
    office: "lab",
    name: "bob",
    protocolVersion: "0.4",
  });
  assertEquals((await agent.computer("small").putBlob(bytes.subarray(0, 2))).totalSize, 2);
});

Deno.test(
  "empty data, and a file that changes while it is read, are refused before anything lands",
  async () => {
    await using office = await UploadOffice.open();
    await assertRejects(() => office.laptop.putBlob(new Uint8Array()), TypeError, "empty");
    await assertRejects(() => office.laptop.putBlob(ReadableStream.from([])), TypeError, "empty");
    const shorter = { size: 5, stream: () => ReadableStream.from([bytes.subarray(0, 3)]) };
    await assertRejects(() => office.laptop.putBlob(shorter), TypeError, "changed");
    const huge = { size: 2 ** 31, stream: () => ReadableStream.from([bytes]) };
    await assertRejects(() => office.laptop.putBlob(huge), RangeError, "more than");
    await assertRejects(() => office.laptop.putBlob(bytes, { timeoutMs: 0 }), RangeError);
    const stopped = AbortSignal.abort(new Error("stopped"));
    await assertRejects(() => office.laptop.putBlob(bytes, { signal: stopped }), Error, "stopped");
  },
);

Deno.test("below 0.4 an Agent says what uploads need, and a Computer does not know the event", async () => {
  await using office = await ComputerOffice.open({ servers: {} });
  const error = await assertRejects(() => office.laptop.putBlob(bytes), UnsupportedRequestError);
  assertStringIncludes(error.message, "--protocol 0.4");
  const body = { computer: "laptop", chunk_offset: 0, eof: true, blob: "AA==" };
  const unknown = await assertRejects(() => office.agent.request("client:put_blob", body), SmcpError);
  assertEquals([unknown.code, unknown.details], [400, { field: "event" }]);
  const early = { name: "laptop", config: { servers: {} }, uploads: "uploads" };
  assertThrows(() => Computer.open(early), TypeError, "0.4");
});

Deno.test("a Computer that does not answer uploads, or has other bytes, is not believed", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const answers = { "client:put_blob": (): unknown => NOTHING };
  using scripted = await ScriptedComputer.join(server.url, { version: "0.4.0", answers });
  await using agent = await Agent.connect({
    url: server.url,
    office: "lab",
    name: "ada",
    protocolVersion: "0.4",
  });
  const laptop = agent.computer("laptop");
  const error = await assertRejects(() => laptop.putBlob(bytes), UnsupportedRequestError);
  assertStringIncludes(error.message, "0.4");
  const landed = { upload_id: "u", landing_path: "/x", total_size: 3, sha256: "0".repeat(64) };
  answers["client:put_blob"] = () => landed;
  assertEquals(await refusal(laptop.putBlob(bytes.subarray(0, 3))), [4019, "integrity"]);
  answers["client:put_blob"] = () => ({ upload_id: "u" });
  assertEquals(await refusal(laptop.putBlob(bytes.subarray(0, 3))), [500, undefined]);
  const { body = {} } = scripted.requests.at(-1) ?? {};
  assertEquals(Object.keys(body).filter((key) => key === "upload_id" || key === "name_hint"), []);
});
