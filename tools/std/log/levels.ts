/** The log levels, by name. The numbers are those of `jsr:@std/log`. */
export const LogLevels = {
  NOTSET: 0,
  DEBUG: 10,
  INFO: 20,
  WARN: 30,
  ERROR: 40,
  CRITICAL: 50,
} as const;

/** The name of a log level. */
export type LevelName = keyof typeof LogLevels;

/** The number of a log level. */
export type LogLevel = typeof LogLevels[LevelName];

/** The number of the level with this name. */
export function getLevelByName(name: LevelName): LogLevel {
  const level = LogLevels[name];
  if (level === undefined) throw new TypeError(`Cannot get log level: no level named ${name}`);
  return level;
}

/** The name of the level with this number. */
export function getLevelName(level: LogLevel): LevelName {
  const name = (Object.keys(LogLevels) as LevelName[]).find((candidate) => LogLevels[candidate] === level);
  if (name === undefined) throw new TypeError(`Cannot get log level: no level name for level: ${level}`);
  return name;
}
