import { assertEquals } from "@std/assert";
import { HubAudit } from "../../../src/hub/audit.ts";
import { Clients } from "../../../src/hub/clients.ts";
import { type Grant, Grants } from "../../../src/hub/grants.ts";
import { GrantsInUse } from "../../../src/hub/grants_in_use.ts";
import { StateFile } from "../../../src/hub/state_file.ts";
import { LogBook } from "../../fixtures/log_book.ts";
import { GRANT, TestState } from "./_state.ts";

/** Two grants in use, which a command has changed since: they are for no office any more. */
function changedInUse(state: TestState) {
  const { file } = state;
  const grants = new Grants(file);
  const ends: string[] = [];
  const log = new LogBook();
  const inUse = new GrantsInUse({
    file,
    grants,
    clients: new Clients(file),
    audit: new HubAudit(log),
    onEnd: (_office, { client }) => void ends.push(client),
  });
  const ids = [grants.add(GRANT), grants.add(GRANT)];
  const find = (id: string) => grants.find(id) as Grant;
  const signals = ids.map((id) => inUse.use(find(id)));
  for (const id of ids) inUse.countCall(id);
  using command = StateFile.openExisting(state.path);
  for (const id of ids) new Grants(command).change(id, { offices: [] });
  return { inUse, ids, find, signals, ends, log };
}

/** @param grant Of the grants, the only one that cannot be written; all by default. */
function fillDisk({ file }: TestState, grant = "%"): void {
  const full = "BEGIN SELECT RAISE(FAIL, 'disk is full'); END";
  file.run(`CREATE TRIGGER disk BEFORE UPDATE ON grants WHEN old.id LIKE '${grant}' ${full}`);
}

Deno.test("the streams of changed grants end at the next use although the disk is full", () => {
  using state = new TestState();
  const { inUse, ids: [first = "", second], find, signals, ends } = changedInUse(state);
  fillDisk(state);
  inUse.use(find(first));
  assertEquals(signals.map((signal) => signal?.aborted), [true, true]);
  assertEquals(ends, [first, second]);
  inUse.close();
});

Deno.test("a look at the state file ends changed grants although the disk is full", () => {
  using state = new TestState();
  const { inUse, ids, ends } = changedInUse(state);
  fillDisk(state);
  inUse.close();
  assertEquals(ends, ids);
});

Deno.test("calls that a full disk refused are counted once there is room, each once", async () => {
  using state = new TestState();
  const { inUse, ids, find, log } = changedInUse(state);
  fillDisk(state, ids[1]);
  await log.until(({ message }) => message.startsWith("failed to use"));
  assertEquals(ids.map((id) => find(id).calls), [0, 0]);
  state.file.run("DROP TRIGGER disk");
  inUse.close();
  assertEquals(ids.map((id) => find(id).calls), [1, 1]);
});

Deno.test("the calls before a change of a grant are counted", () => {
  using state = new TestState();
  const { inUse, ids, find } = changedInUse(state);
  inUse.close();
  assertEquals(ids.map((id) => find(id).calls), [1, 1]);
});
