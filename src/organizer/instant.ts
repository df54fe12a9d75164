/** Reads ISO 8601 dates of MCP servers. */

/** The extended form of ISO 8601: a date, or a date and a time. Every part of the date has a fixed position. */
const TIME_STAMP = /^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:[Zz]|[+-]\d\d(?::?\d\d)?)?)?$/;

const DATE_LENGTH = "2026-01-15".length;
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MS_PER_MINUTE = 60_000;
const MS_PER_400_YEARS = 146_097 * 24 * 60 * MS_PER_MINUTE;
/** A double cannot represent more digits exactly. */
const MAX_FRACTION_DIGITS = 15;

/**
 * Reads an ISO 8601 date or date-time as milliseconds since 1970, in UTC when it has no offset; fractions of a
 * millisecond are kept. Unlike `Date.parse`, the result does not depend on the time zone of the machine.
 *
 * @returns `undefined` when `text` has another form, or names a day or time that does not exist
 */
export function parseInstant(text: string): number | undefined {
  if (!TIME_STAMP.test(text)) return undefined;
  const midnight = parseDay(text);
  const sinceMidnight = text.length === DATE_LENGTH ? 0 : parseTime(text);
  return midnight === undefined || sinceMidnight === undefined ? undefined : midnight + sinceMidnight;
}

function parseDay(text: string): number | undefined {
  const [year, month, day] = [digitsAt(text, 0, 4), digitsAt(text, 5, 2), digitsAt(text, 8, 2)];
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = isLeapYear && month === 2 ? 29 : DAYS_IN_MONTH[month - 1];
  if (days === undefined || day < 1 || day > days) return undefined;
  // `Date.UTC` reads the years 0–99 as 1900–1999. The calendar repeats every 400 years.
  return Date.UTC(year + 400, month - 1, day) - MS_PER_400_YEARS;
}

/** The milliseconds since midnight UTC of the written day; negative when the offset moves it to the day before. */
function parseTime(text: string): number | undefined {
  const [hour, minute] = [digitsAt(text, 11, 2), digitsAt(text, 14, 2)];
  const hasSecond = text[16] === ":";
  const second = hasSecond ? digitsAt(text, 17, 2) : 0;
  const hasFraction = hasSecond && (text[19] === "." || text[19] === ",");
  const zoneStart = hasFraction ? endOfDigits(text, 20) : hasSecond ? 19 : 16;
  const seconds = hasFraction ? second + fractionAt(text, 20, zoneStart) : second;
  const offset = parseOffset(text, zoneStart);
  if (offset === undefined || minute > 59 || second > 60) return undefined;
  if (hour > 24 || (hour === 24 && minute + seconds > 0)) return undefined;
  return (hour * 60 + minute - offset) * MS_PER_MINUTE + seconds * 1000;
}

/** The offset from UTC in minutes; positive east of Greenwich. */
function parseOffset(text: string, start: number): number | undefined {
  const sign = text[start];
  if (sign !== "+" && sign !== "-") return 0;
  const minutesStart = text[start + 3] === ":" ? start + 4 : start + 3;
  const hours = digitsAt(text, start + 1, 2);
  const minutes = minutesStart < text.length ? digitsAt(text, minutesStart, 2) : 0;
  if (hours > 23 || minutes > 59) return undefined;
  return (sign === "+" ? 1 : -1) * (hours * 60 + minutes);
}

function fractionAt(text: string, start: number, end: number): number {
  const count = Math.min(end - start, MAX_FRACTION_DIGITS);
  return digitsAt(text, start, count) / 10 ** count;
}

function endOfDigits(text: string, start: number): number {
  let end = start;
  while (isDigit(text.charCodeAt(end))) end++;
  return end;
}

function digitsAt(text: string, start: number, count: number): number {
  let number = 0;
  for (let i = start; i < start + count; i++) number = number * 10 + text.charCodeAt(i) - 0x30;
  return number;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}
