import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { generateKeyPairSync } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { StateFile, StateFileError } from "../../../src/hub/state_file.ts";
import { LogBook } from "../../fixtures/log_book.ts";
import { TestState } from "./_state.ts";
import { TempFolder } from "../../fixtures/temp_folder.ts";

const isWindows = Deno.build.os === "windows";

Deno.test("the keys of a hub stay the same, and two programs use one file", () => {
  using state = new TestState();
  using other = StateFile.openExisting(state.path);
  assertEquals(other.keys, state.file.keys);
  state.file.run("INSERT INTO clients (id, metadata, used_at) VALUES ('a', '{}', 1)");
  assertEquals(other.get("SELECT id FROM clients"), { ...other.get("SELECT 'a' AS id") });
});

Deno.test("of two hubs on one file, the second is refused; it may start when the first one has ended", () => {
  using state = new TestState();
  const log = new LogBook();
  const { keys } = state.file;
  assertThrows(() => StateFile.open(state.path, { logger: log }), StateFileError, "another hub uses it");
  state.file[Symbol.dispose]();
  using next = StateFile.open(state.path, { logger: log });
  assertEquals([next.keys, log.lines], [keys, []]);
});

Deno.test("a link to the file of a hub gives it to no second one", { ignore: isWindows }, () => {
  using state = new TestState();
  const link = `${state.path}.link`;
  Deno.symlinkSync(state.path, link);
  const open = () => StateFile.open(link, { logger: new LogBook() });
  assertThrows(open, StateFileError, "another hub uses it");
});

Deno.test(
  "other users of the machine cannot open the lock, and so not hold it",
  { ignore: isWindows },
  () => {
    using state = new TestState();
    assertEquals((Deno.statSync(`${state.path}.lock`).mode ?? 0) & 0o777, 0o600);
  },
);

Deno.test("a file that was restored for all to read is private again", { ignore: isWindows }, () => {
  using state = new TestState();
  const files = ["", "-wal", "-shm"].map((end) => `${state.path}${end}`);
  using _open = StateFile.openExisting(state.path);
  state.file[Symbol.dispose]();
  for (const file of files) Deno.chmodSync(file, 0o644);
  using _again = StateFile.open(state.path, { logger: new LogBook() });
  assertEquals(files.map((file) => (Deno.statSync(file).mode ?? 0) & 0o777), [0o600, 0o600, 0o600]);
});

Deno.test("what goes wrong in the middle of several changes changes nothing", () => {
  using state = new TestState();
  assertThrows(() =>
    state.file.transact(() => {
      state.file.run("INSERT INTO clients (id, metadata, used_at) VALUES ('a', '{}', 1)");
      throw new RangeError("Stop");
    }), RangeError);
  assertEquals(state.file.all("SELECT id FROM clients"), []);
});

Deno.test("a full disk is named as such, and the file can be used again", () => {
  using state = new TestState();
  const { file } = state;
  const insert = (id: string) =>
    file.run("INSERT INTO clients (id, metadata, used_at) VALUES (?, '{}', 1)", id.repeat(100_000));
  file.get("PRAGMA max_page_count = 1");
  assertThrows(() => file.transact(() => insert("a")), Error, "disk is full");
  file.get("PRAGMA max_page_count = 100000");
  file.transact(() => insert("b"));
  assertEquals(file.all("SELECT length(id) AS length FROM clients").length, 1);
});

for (const [what, length] of [["empty", 0], ["cut", 5_000]] as const) {
  Deno.test(`a file that was restored ${what}, without its lock, is damaged`, () => {
    using state = new TestState();
    state.file[Symbol.dispose]();
    Deno.removeSync(`${state.path}.lock`);
    Deno.truncateSync(state.path, length);
    const log = new LogBook();
    using _file = StateFile.open(state.path, { logger: log });
    assertEquals(Deno.statSync(String(log.of("error")[0]?.fields["moved_to"])).size, length);
  });
}

Deno.test("a command makes no file, and leaves a damaged one where it is", () => {
  using folder = new TempFolder();
  const path = `${folder.path}/hub.sqlite`;
  assertThrows(() => StateFile.openExisting(path), StateFileError, "no such file");
  Deno.writeFileSync(path, new Uint8Array());
  assertThrows(() => StateFile.openExisting(path), StateFileError, "Cannot open");
  assertEquals(Deno.statSync(path).size, 0);
  Deno.writeTextFileSync(path, "this is no database, and is long enough to be seen as one".repeat(100));
  assertThrows(() => StateFile.openExisting(path), StateFileError, "Cannot open");
  assert(Deno.statSync(path).isFile);
});

for (
  const [what, damage] of [
    ["what is no database", (path: string) => Deno.writeFileSync(path, new Uint8Array(5_000).fill(0x83))],
    ["keys that are none", (path: string) => {
      using file = StateFile.openExisting(path);
      file.run("UPDATE keys SET value = '' WHERE name = 'signing'");
    }],
    ["a signing key that is none", (path: string) => {
      using file = StateFile.openExisting(path);
      file.run("UPDATE keys SET value = '{}' WHERE name = 'signing'");
    }],
    ["a signing key of another kind", (path: string) => {
      const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-384" });
      using file = StateFile.openExisting(path);
      file.run(
        "UPDATE keys SET value = ? WHERE name = 'signing'",
        JSON.stringify(privateKey.export({ format: "jwk" })),
      );
    }],
    ["a signing key without its private part", (path: string) => {
      using file = StateFile.openExisting(path);
      file.run("UPDATE keys SET value = json_remove(value, '$.d') WHERE name = 'signing'");
    }],
    ["an empty key of cookies", (path: string) => {
      using file = StateFile.openExisting(path);
      file.run("UPDATE keys SET value = '' WHERE name = 'cookies'");
    }],
    ["no bytes", (path: string) => Deno.writeFileSync(path, new Uint8Array())],
    ["tables that are others", (path: string) => {
      using file = StateFile.openExisting(path);
      file.run("DROP TABLE grants");
      file.run("CREATE TABLE grants (x TEXT)");
    }],
  ] as const
) {
  Deno.test(`a hub starts anew in place of ${what}, and keeps the old file aside`, () => {
    using state = new TestState();
    const { keys } = state.file;
    state.file[Symbol.dispose]();
    damage(state.path);
    const log = new LogBook();
    using file = StateFile.open(state.path, { logger: log });
    assertNotEquals(file.keys, keys);
    const [line] = log.of("error");
    assert(Deno.statSync(String(line?.fields["moved_to"])).isFile);
  });
}

for (
  const [what, write] of [
    [
      "it is not a file of a hub",
      (path: string) => Deno.writeTextFileSync(path, "41d0c7b2e9f6a358 name=bücher\n"),
    ],
    [
      'it is of version "2", and this program reads version 1: use the release that wrote it, or',
      (path: string) => {
        StateFile.open(path, { logger: new LogBook() })[Symbol.dispose]();
        Deno.removeSync(`${path}.lock`);
        const db = new DatabaseSync(path);
        db.exec("UPDATE keys SET value = '2' WHERE name = 'version'; DROP TABLE grants");
        db.close();
      },
    ],
    ["it is not a file of a hub;", (path: string) => {
      const db = new DatabaseSync(path);
      db.exec("CREATE TABLE grants (x TEXT)");
      db.close();
    }],
  ] as const
) {
  Deno.test(`a hub and its commands leave a file alone of which they say: ${what}`, () => {
    using folder = new TempFolder();
    const path = `${folder.path}/named by mistake`;
    write(path);
    Deno.chmodSync(path, 0o644);
    const [before, { mode }] = [Deno.readFileSync(path), Deno.statSync(path)];
    const open = [
      () => StateFile.open(path, { logger: new LogBook() }),
      () => StateFile.openExisting(path),
    ];
    for (const each of open) {
      assertThrows(each, StateFileError, what);
      assertThrows(each, StateFileError, "give another --state-file");
    }
    assertEquals(Deno.readFileSync(path), before);
    assertEquals(Deno.statSync(path).mode, mode);
    // What SQLite makes to read a database.
    const names = [...Deno.readDirSync(folder.path)].map(({ name }) => name);
    assertEquals(names.filter((name) => !/-(?:wal|shm)$/.test(name)), ["named by mistake"]);
  });
}
