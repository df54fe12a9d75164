import { assertEquals } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import { parseInstant } from "../../../src/organizer/instant.ts";

// proves: finder-modified-order
Deno.test("parseInstant() reads what Date.prototype.toISOString() writes", () => {
  const years = { min: new Date("0000-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59.999Z") };
  fc.assert(fc.property(fc.date({ ...years, noInvalidDate: true }), (date) => {
    assertEquals(parseInstant(date.toISOString()), date.getTime());
  }));
});

// proves: finder-modified-order
Deno.test("parseInstant() respects offsets", () => {
  const utc = Date.UTC(2026, 0, 15, 8, 30);
  const spellings = [
    "08:30Z",
    "08:30:00z",
    "09:30+01:00",
    "14:00:00+0530",
    "03:30:00.000-05",
    "08:30:00,0+00:00",
  ];
  for (const time of spellings) assertEquals(parseInstant(`2026-01-15T${time}`), utc, time);
  assertEquals(parseInstant("2026-01-14T23:30:00-09:00"), utc);
});

// proves: finder-modified-order
Deno.test("parseInstant() reads a date alone, and a time without an offset, in UTC", () => {
  assertEquals(parseInstant("2026-01-15"), Date.UTC(2026, 0, 15));
  assertEquals(parseInstant("2026-01-15T08:30:00"), Date.UTC(2026, 0, 15, 8, 30));
  assertEquals(parseInstant("2026-01-15 08:30:00"), Date.UTC(2026, 0, 15, 8, 30));
});

// proves: finder-modified-order
Deno.test("parseInstant() keeps microseconds apart", () => {
  const [earlier = NaN, later = NaN] = ["123456", "123457"].map((micros) =>
    parseInstant(`2026-01-15T08:30:00.${micros}Z`)
  );
  assertEquals([earlier < later, Math.floor(earlier)], [true, Date.UTC(2026, 0, 15, 8, 30, 0, 123)]);
  assertEquals(
    parseInstant("2026-01-15T08:30:00.5Z"),
    parseInstant(`2026-01-15T08:30:00.5${"0".repeat(40)}Z`),
  );
});

// proves: finder-modified-order
Deno.test("parseInstant() knows midnight at the end of a day, leap seconds and leap years", () => {
  assertEquals(parseInstant("2026-01-15T24:00:00Z"), Date.UTC(2026, 0, 16));
  assertEquals(parseInstant("2016-12-31T23:59:60Z"), Date.UTC(2017, 0, 1));
  assertEquals(parseInstant("2024-02-29"), Date.UTC(2024, 1, 29));
  assertEquals(parseInstant("2000-02-29"), Date.UTC(2000, 1, 29));
});

// proves: finder-modified-missing
Deno.test("parseInstant() of anything else is undefined", () => {
  const texts = [
    ...["", "yesterday", "2026", "1768465800", "Thu, 15 Jan 2026 08:30:00 GMT", "2026-1-5", "15.01.2026"],
    ...["2026-13-01", "2026-00-10", "2026-02-29", "1900-02-29", "2026-04-31", "2026-01-00", "2026-01-32"],
    ...["2026-01-15T", "2026-01-15T25:00Z", "2026-01-15T24:00:01Z", "2026-01-15T24:01Z", "2026-01-15T08:60Z"],
    ...["2026-01-15T08:30:61Z", "2026-01-15T08:30:00.Z", "2026-01-15T08:30+24:00", "2026-01-15T08:30+01:60"],
    ...[" 2026-01-15", "2026-01-15Z", "2026-01-15T08:30:00Z "],
  ];
  for (const text of texts) assertEquals(parseInstant(text), undefined, text);
});
