/** Reads ISO 8601 dates of MCP servers. */

/** The extended form of ISO 8601: a date, or a date and a time. */
const FORM =
  /^(\d{4}-\d\d-\d\d)(?:[Tt ]((?:[01]\d|2[0-3]):[0-5]\d|24:00)(?::([0-5]\d|60)(?:[.,](\d+))?)?([Zz]|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/;

/**
 * Reads an ISO 8601 date or date-time as milliseconds since 1970, in UTC when it has no offset; fractions of a
 * millisecond are kept. Unlike `Date.parse`, the result does not depend on the time zone of the machine.
 *
 * @returns `undefined` when `text` has another form, or names a day or time that does not exist
 */
export function parseInstant(text: string): number | undefined {
  const [, day, time = "00:00", second = "00", fraction = "0", zone = "Z"] = FORM.exec(text) ?? [];
  if (day === undefined) return undefined;
  const midnight = new Date(`${day}T00:00Z`);
  // `Date` moves 2026-02-30 to March.
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(day)) return undefined;
  const seconds = Number(`${second}.${fraction}`);
  if (time === "24:00" && seconds > 0) return undefined;
  const offset = zone.toUpperCase().replace(
    /^(...):?(\d\d)?$/,
    (_, hours, minutes = "00") => `${hours}:${minutes}`,
  );
  return Date.parse(`${day}T${time}${offset}`) + seconds * 1_000;
}
