/**
 * The limits of a Computer: sizes of lists and answers, times of reads, numbers of calls. The names and the defaults of a
 * configuration, its schema and the table of `docs/configuration.md` are made from here.
 */
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from "../mcp/limits.ts";

/** Limits of the lists of MCP servers and of list answers, and the wait after a list that failed; each has a default. */
export interface ListLimits {
  /**
   * The first wait before a list of tools that failed is read again, in milliseconds; 1,000 by default. Each further wait
   * is twice as long, up to a minute.
   */
  readonly listRetryDelayMs: number;
  /** The most tools of one MCP server; 5,000 by default. */
  readonly maxTools: number;
  /** The largest tool, in bytes of JSON; 1 MiB by default. */
  readonly maxToolBytes: number;
  /** The most that all tools of one MCP server take, in bytes of JSON; 8 MiB by default. */
  readonly maxToolListBytes: number;
  /** The most windows, templates or prompts of one MCP server, and skills of one or of a folder; 1,000 by default. */
  readonly maxListed: number;
  /** The most documents of one MCP server; 100,000 by default. */
  readonly maxDocuments: number;
  /** The most `skill://` resources of one MCP server; 20,000 by default. */
  readonly maxSkillFiles: number;
  /** The most subscriptions of the Agent; 1,000 by default. */
  readonly maxSubscriptions: number;
  /** The largest resource, template, prompt or summary of a document, in bytes of JSON; 64 KiB by default. */
  readonly maxEntryBytes: number;
  /** The largest contents of a window, in bytes of JSON; 4 MiB by default. */
  readonly maxWindowBytes: number;
  /** The most that the contents of all windows of one MCP server take, in bytes of JSON; 32 MiB by default. */
  readonly maxWindowsBytes: number;
  /** The largest list answer, in bytes; 8 MiB, or less where the connection takes less. */
  readonly maxListAnswerBytes: number;
}

/** Limits of lists and reads in time and number; each has a default. */
export interface ReadLimits {
  /** How long one list or one read may take, in milliseconds; 10,000 by default. */
  readonly readTimeoutMs: number;
  /** How long a Desktop or Finder request waits for an MCP server, in milliseconds; 5,000 by default. What arrives later is announced. */
  readonly viewDeadlineMs: number;
  /** The most reads or subscriptions of one server at the same time; 8 by default. */
  readonly concurrency: number;
  /** How old a window may be, in milliseconds; 10,000 by default. */
  readonly windowMaxAgeMs: number;
  /** How old a document's summary may be, in milliseconds; 300,000 by default. */
  readonly documentMaxAgeMs: number;
}

/** Bounds of the questions of MCP servers; each has a default. */
export interface QuestionLimits {
  /** Open questions at the Computer, and open questions at the Agent; 16 each by default. More are declined. */
  readonly maxQuestions: number;
  /** How long the answer to a question is waited for, in milliseconds, 24 days at most; 600,000 by default. */
  readonly questionTimeoutMs: number;
}

/** Limits of what runs at the same time for the Agent of an office; each has a default. */
export interface CallLimits {
  /** Tool calls, including those that wait for a confirmation; 256 by default. More get a result with `isError`. */
  readonly maxCalls: number;
  /** Open confirmations; 16 by default. A call that needs another one is answered 4005. */
  readonly maxConfirmations: number;
  /** Requests of every kind; 1,024 by default. More are answered 500. */
  readonly maxRequests: number;
}

/** Limits of kept blobs; each has a default. */
export interface BlobLimits {
  /** The most bytes of large answers that are kept for one office; 64 MiB by default. */
  readonly maxBlobBytes: number;
  /**
   * How long a part of a large answer is kept after its last request, or while another part of its answer is being read, in milliseconds;
   * 120,000 by default.
   */
  readonly blobLifetimeMs: number;
}

/** Limits of a Computer in time, size and number; each has a default. */
export type ComputerLimits =
  & ServerLimits
  & ReadLimits
  & CallLimits
  & QuestionLimits
  & BlobLimits
  & ListLimits;

const KIB = 1024;
const MIB = 1024 * KIB;

export const DEFAULT_LIMITS: ComputerLimits = {
  ...DEFAULT_SERVER_LIMITS,
  readTimeoutMs: 10_000,
  viewDeadlineMs: 5_000,
  concurrency: 8,
  windowMaxAgeMs: 10_000,
  documentMaxAgeMs: 5 * 60_000,
  maxCalls: 256,
  maxConfirmations: 16,
  maxRequests: 1_024,
  maxQuestions: 16,
  questionTimeoutMs: 600_000,
  maxBlobBytes: 64 * MIB,
  blobLifetimeMs: 120_000,
  listRetryDelayMs: 1_000,
  maxTools: 5_000,
  maxToolBytes: MIB,
  maxToolListBytes: 8 * MIB,
  maxListed: 1_000,
  maxDocuments: 100_000,
  maxSkillFiles: 20_000,
  maxSubscriptions: 1_000,
  maxEntryBytes: 64 * KIB,
  maxWindowBytes: 4 * MIB,
  maxWindowsBytes: 32 * MIB,
  maxListAnswerBytes: 8 * MIB,
};
