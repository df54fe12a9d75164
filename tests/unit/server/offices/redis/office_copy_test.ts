import { assertEquals } from "@std/assert";
import { OfficeCopy } from "../../../../../src/server/offices/redis/office_copy.ts";
import { readSeat, type Seat, toSeat, writeSeat } from "../../../../../src/server/offices/redis/store.ts";
import { agent, computer } from "../_offices.ts";

/** A copy with what it told. */
function openCopy() {
  const told: string[] = [];
  const copy = new OfficeCopy({
    onSeatTaken: ({ name }) => void told.push(`+${name}`),
    onSeatMoved: (fence) => void told.push(`moved ${fence}`),
    onSeatGiven: ({ name }, reason) => void told.push(`-${name} ${reason}`),
  });
  return { copy, told };
}

const line = (seat: Seat, place: number) => `${place} ${writeSeat(seat)}`;
const laptop = toSeat(computer("laptop", { session: "s" }), "f1");
const ada = toSeat(agent("ada"), "f2");

Deno.test("a seat is read as it was written, without the session", () => {
  const read = readSeat(line(laptop, 7));
  assertEquals(read, { ...laptop, place: "7" });
  assertEquals(line(laptop, 7).includes('"s"'), false);
  for (
    const text of ["", "7 f {}", "x f {}", "7 f null", `7 f ${JSON.stringify({ ...laptop, role: "boss" })}`]
  ) {
    assertEquals(readSeat(text), undefined);
  }
});

Deno.test("a copy follows changes that come one after another, and only those", () => {
  const { copy, told } = openCopy();
  assertEquals(copy.apply(`change 0 10\n+${line(laptop, 10)}`), true);
  assertEquals(copy.apply(`change 11 12\n+${line(ada, 12)}`), false);
  assertEquals(copy.apply(`change 10 11\n+${line(ada, 11)}`), true);
  // Once more, as the script's reply and the channel may both tell of it.
  assertEquals(copy.apply(`change 10 11\n+${line(ada, 11)}`), true);
  assertEquals(copy.apply(`change 11 12\n-replaced ${line(laptop, 10)}`), true);
  assertEquals(told, ["+laptop", "+ada", "-laptop replaced"]);
  assertEquals([...copy.fences], ["f2"]);
});

Deno.test("a copy that is read anew tells the difference, in the order of joining", () => {
  const { copy, told } = openCopy();
  copy.apply(`change 0 10\n+${line(laptop, 10)}`);
  const late = toSeat(computer("late"), "f3");
  const early = toSeat(computer("early"), "f3");
  const fields = [[late, 30], [early, 20]] as const;
  copy.replace("31", ["v", "31", ...fields.flatMap(([seat, at]) => [`s:${seat.sid}`, line(seat, at)])]);
  assertEquals(told, ["+laptop", "-laptop left", "+early", "+late"]);
  assertEquals(copy.members().map(({ name }) => name), ["early", "late"]);
  assertEquals(copy.version, "31");
});

Deno.test("a copy that is read anew tells that a newer connection of the same session has replaced one", () => {
  const { copy, told } = openCopy();
  copy.apply(`change 0 10\n+${line(laptop, 10)}`);
  copy.apply(`change 10 11\n+${line(ada, 11)}`);
  const back = toSeat(computer("back", { session: "s" }), "f3");
  copy.replace("13", [`s:${back.sid}`, line(back, 13)]);
  assertEquals(told, ["+laptop", "+ada", "-laptop replaced", "-ada left", "+back"]);
});

Deno.test("a copy tells when a process has moved its seats, and keeps their places", () => {
  const { copy, told } = openCopy();
  copy.apply(`change 0 10\n+${line(laptop, 10)}`);
  copy.apply(`change 10 11\n+${line({ ...laptop, fence: "f9" }, 10)}`);
  assertEquals(told, ["+laptop", "moved f1"]);
  assertEquals([...copy.fences], ["f9"]);
});

Deno.test("findSession() finds the seat of another connection with the same session", () => {
  const { copy } = openCopy();
  copy.apply(`change 0 10\n+${line(laptop, 10)}`);
  const back = toSeat(computer("laptop", { session: "s" }), "f2");
  assertEquals(copy.findSession(back)?.sid, laptop.sid);
  assertEquals(copy.findSession(laptop), undefined);
  assertEquals(copy.findSession(ada), undefined);
});
