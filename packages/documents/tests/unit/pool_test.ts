import { assertEquals, assertRejects } from "@std/assert";
import { eventually, within } from "../../../../tests/fixtures/within.ts";
import { type ParsableFile, ParserLimitError, ParserPool } from "../../src/parsing/pool.ts";
import { isWindows } from "../../../../tests/fixtures/system.ts";

const MEBIBYTE = 1024 * 1024;
/** The limit of a file in the newest pool, which no other one has: it marks the processes of that pool. */
let maxFileBytes = MEBIBYTE + Deno.pid * 16;

function textFile(key: string, pages: number): ParsableFile {
  const text = Array.from({ length: pages }, (_, page) => `page ${page}`).join("\f");
  return { key, kind: "text", fileName: `${key}.txt`, bytes: () => Promise.resolve(encode(text)) };
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function openPool(timeMs = 60_000): ParserPool {
  return new ParserPool({
    maxMemoryBytes: 512 * MEBIBYTE,
    maxFileBytes: ++maxFileBytes,
    maxUnpackedBytes: MEBIBYTE,
    maxPageBytes: MEBIBYTE,
    maxDepth: 100,
    timeMs,
    processes: 1,
  });
}

Deno.test("files take turns, so that one of many pages does not hold up the others", async () => {
  await using pool = openPool();
  const order: string[] = [];
  const [long, short] = [textFile("long", 20), textFile("short", 1)];
  const read = async (file: ParsableFile, index: number) => {
    await pool.page(file, index);
    order.push(file.key);
  };
  await Promise.all([...Array.from({ length: 20 }, (_, index) => read(long, index)), read(short, 0)]);
  assertEquals(order.indexOf("short"), 1);
});

Deno.test("a disk that does not answer holds a process up for the time of a file alone", async () => {
  // The other file needs a process of its own meanwhile, which takes Windows under Wine seconds.
  await using pool = openPool(isWindows ? 30_000 : 4_000);
  const hung: ParsableFile = { ...textFile("hung", 1), bytes: () => new Promise(() => {}) };
  const refused = assertRejects(() => pool.facts(hung), ParserLimitError, "takes longer than");
  const [{ pageCount }] = await Promise.all([pool.facts(textFile("other", 2)), refused]);
  assertEquals(pageCount, 2);
});

Deno.test("a file whose parser was not made for hostile files shares its process with no other", async () => {
  await using pool = openPool();
  const bytes = await Deno.readFile(new URL("../fixtures/files/agreement.doc", import.meta.url));
  const opened: string[] = [];
  const counted = (file: ParsableFile): ParsableFile => ({
    ...file,
    bytes: () => {
      opened.push(file.key);
      return file.bytes();
    },
  });
  const word = (key: string) =>
    counted({ key, kind: "oldWord", fileName: "a.doc", bytes: () => Promise.resolve(bytes.slice()) });
  const [text, one, two] = [counted(textFile("text", 1)), word("one"), word("two")];
  // A process keeps what it has opened, so that a file that is opened again had lost its process.
  for (const file of [text, text, one, one, two, text, one]) await pool.page(file, 0);
  assertEquals(opened, ["text", "one", "two", "text", "one"]);
});

/** The parser process of the newest pool: the limit of a file is among its arguments. */
function parserPid(): Promise<number> {
  const find = () =>
    Number(
      [...Deno.readDirSync("/proc")].map(({ name }) => name).filter((name) => /^\d+$/.test(name)).find(
        (pid) => {
          try {
            return Deno.readTextFileSync(`/proc/${pid}/cmdline`).split("\0").includes(
              `${maxFileBytes + 64 * 1024}`,
            );
          } catch {
            return false;
          }
        },
      ),
    );
  return eventually(find, (pid) => pid > 0, "a parser process");
}

const isLinux = Deno.build.os === "linux";

Deno.test({ name: "a process that the system ends costs a file nothing", ignore: !isLinux }, async () => {
  await using pool = openPool();
  await pool.facts(textFile("before", 1));
  let isFirst = true;
  const file: ParsableFile = {
    ...textFile("killed", 3),
    async bytes() {
      const pid = isFirst ? await parserPid() : undefined;
      isFirst = false;
      if (pid === undefined) return encode("a\fb\fc");
      // The request is under way when it ends: a process that is stopped gives no answer.
      Deno.kill(pid, "SIGSTOP");
      setTimeout(() => Deno.kill(pid, "SIGKILL"));
      return encode("a\fb\fc");
    },
  };
  assertEquals((await pool.facts(file)).pageCount, 3);
});

Deno.test({ name: "what nobody waits for any more does not hold up others", ignore: !isLinux }, async () => {
  await using pool = openPool(600_000);
  await pool.facts(textFile("before", 1));
  Deno.kill(await parserPid(), "SIGSTOP");
  const unwanted = new AbortController();
  const refused = assertRejects(
    () => pool.facts(textFile("hung", 1), { signal: unwanted.signal }),
    Error,
    "nobody waits",
  );
  unwanted.abort(new Error("nobody waits"));
  const other = within(pool.facts(textFile("other", 2)), "the other file");
  const [{ pageCount }] = await Promise.all([other, refused]);
  assertEquals(pageCount, 2);
});
