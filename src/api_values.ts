/** The JSON of commands whose answers the pages read, and of events: what the programs write and the pages rely on. */

/** A call of a tool, while it waits or runs. */
interface CallValue {
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly name: string;
  readonly agent?: string | undefined;
  readonly client?: string | undefined;
  readonly is_local: boolean;
  readonly since: string;
}

/** What waits for a person. */
export interface WaitingValue extends CallValue {
  readonly kind: "call" | "question";
  readonly title?: string | undefined;
  readonly description?: string;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly claimed_agent: string;
  readonly must_ask?: boolean;
  readonly has_always?: boolean;
  readonly ends_at?: string;
  readonly digest?: string;
  readonly changed?: string | undefined;
  readonly changes?: readonly {
    readonly member: string;
    readonly removed: readonly string[];
    readonly added: readonly string[];
  }[];
  readonly arguments_bytes?: number;
  /** They are read in pages where they are long. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly question?: {
    readonly mode: "form" | "url" | "sign-in";
    readonly message: string;
    readonly schema?: Readonly<Record<string, unknown>>;
    readonly url?: string;
    readonly user_code?: string;
    readonly problems?: readonly string[];
  };
}

export interface RunningValue extends CallValue {
  readonly awaits?: "confirmer" | "approver" | "answerer" | "caller" | undefined;
  readonly timeout_at?: string | undefined;
  readonly progress?: ProgressValue | undefined;
  readonly cancelled?: true | undefined;
}

interface ProgressValue {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** `calls list` */
export interface CallsValue {
  readonly paused: boolean;
  readonly waiting: readonly WaitingValue[];
  readonly running: readonly RunningValue[];
}

/** What calls and reads have in common in `history`. */
interface HistoryEntryValue {
  readonly id: number;
  /** The id of the call while it waited and ran. */
  readonly call: string;
  readonly req_id?: string | undefined;
  readonly agent: string | null;
  readonly client: string | null;
  readonly server: string | null;
  readonly outcome: string;
}

/** A call of `history`. */
export interface EndedCallValue extends HistoryEntryValue {
  readonly kind: "call";
  readonly tool: string;
  readonly started_at: string;
  /** How many calls that a pause refused it stands for; of any other call 1. */
  readonly calls: number;
  readonly last_at: string;
  readonly duration_ms: number;
  readonly error_code: number | null;
  /** JSON as a text, masked. */
  readonly arguments: string;
  readonly is_cut: boolean;
}

/** A read of `history`. */
export interface ReadValue extends HistoryEntryValue {
  readonly kind: "read";
  readonly read: string;
  /** What was searched in the text of documents. */
  readonly query?: string | undefined;
  /** URIs, and how many more documents the answer told of. */
  readonly documents: readonly string[];
  readonly more_documents: number;
  readonly reads: number;
  readonly first_at: string;
  readonly last_at: string;
}

export type HistoryValue = EndedCallValue | ReadValue;

/** An MCP server in `status`. */
export interface ServerValue {
  readonly name: string;
  readonly status: "starting" | "running" | "retrying" | "needs sign-in" | "failed" | "stopped";
  readonly mcp_version?: string | undefined;
  readonly since: string;
  readonly restarts: number;
  readonly tools: number;
  readonly memory_bytes?: number | undefined;
  readonly last_error?: string | undefined;
  readonly problem?: string | undefined;
  readonly remedy?: string | undefined;
  readonly stderr_tail?: string | undefined;
  /** The option of the command line that it comes from, if it is not in the config. */
  readonly comes_from?: string | undefined;
}

/** `status` of a Computer. */
export interface StatusValue {
  readonly name: string;
  readonly server: string | null;
  readonly connected: boolean;
  readonly office: string | null;
  readonly agent: string | null;
  readonly since: string | null;
  readonly paused: boolean;
  readonly config: string | null;
  readonly refused_edit: string | null;
  readonly can_undo: boolean;
  readonly servers: readonly ServerValue[];
}

/** A tool in `tool list`. */
export interface ToolValue extends Pick<WaitingValue, "changed" | "changes"> {
  readonly name: string;
  readonly description: string;
  readonly params_schema: Readonly<Record<string, unknown>>;
  readonly meta?: Readonly<Record<string, unknown>> | null | undefined;
  readonly server: string;
  /** Its own name. */
  readonly tool: string;
  readonly auto_apply?: boolean | undefined;
  /** A person has allowed it by `always`. */
  readonly always?: boolean | undefined;
  readonly hidden?: boolean | undefined;
  /** It has changed, and is kept from the Agent until it is allowed. */
  readonly set_aside?: boolean | undefined;
}

/** An input in `input list`. */
export interface ListedInputValue {
  readonly id: string;
  readonly type: string;
  readonly description: string;
  readonly value_from: string;
  readonly used_by: readonly string[];
}

/** A document in `finder`. */
export interface DocumentValue {
  readonly uri: string;
  /** Where its file is, if it is one. */
  readonly file_uri?: string;
  readonly title: string;
  readonly file_type: string;
  readonly page_count: number;
  readonly summary?: string;
  readonly keywords?: readonly string[];
  readonly last_modified?: string;
  readonly server: string;
}

/** Something that `config check` has found. */
export interface FindingValue {
  readonly message: string;
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
}

/** `overview` of a Server. */
export interface OverviewValue {
  readonly url: string;
  readonly version: string;
  readonly ready: boolean;
  readonly unready: string | null;
  /** Why the newest versions of files of credentials, keys and certificates are not in use. */
  readonly refused_files: readonly string[];
  readonly uptime_s: number;
  /** Whether other processes serve its offices as well. */
  readonly shared: boolean;
  /** Whether it serves MCP clients, too. */
  readonly hub: boolean;
  readonly members: Readonly<Record<string, number>>;
  readonly offices: number;
  readonly memory: {
    readonly rss: number;
    readonly message_bytes: number;
    readonly max_message_bytes: number;
  };
  readonly last15m: readonly RateValue[];
  readonly options: readonly {
    readonly name: string;
    readonly value: string;
    readonly default: string | null;
  }[];
}

/** What a Server counted in 10 seconds. */
export interface RateValue {
  readonly at: string;
  readonly calls_per_s: number;
  readonly p50_ms?: number | undefined;
  readonly p95_ms?: number | undefined;
  /** How many requests for Computers failed, by the code of the error. */
  readonly errors: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, number>>;
}

/** An office in `offices`. */
export interface OfficeValue {
  readonly office: string;
  readonly members: number;
  readonly agent: string | null;
  readonly computers: number;
  readonly observers: number;
}

/** A member in `members`. */
export interface MemberValue {
  readonly sid: string;
  readonly role: string;
  readonly is_observer: boolean;
  readonly name: string;
  readonly client?: string | undefined;
  readonly version?: string | undefined;
  readonly principal: string;
  readonly address: string;
  readonly transport: string;
  readonly since: string;
  /** When anything of it was read last. */
  readonly last_seen: string;
  readonly asleep_since?: string | undefined;
  readonly round_trip_ms?: number | undefined;
  /** Of the last answers of a Computer. */
  readonly answer_p50_ms?: number | undefined;
  readonly answer_p95_ms?: number | undefined;
  readonly waits: { readonly bytes: number; readonly requests: number };
}

/** An event as `events` and the stream of the console tell it. */
export interface SeenValue {
  readonly at: string;
  readonly office: string;
  readonly event: string;
  readonly from: string;
  readonly to: string | null;
  readonly ms: number;
  readonly bytes: number;
  readonly answer_bytes: number | null;
  readonly outcome: string;
  readonly code: number | null;
  /** How many before it were not told. */
  readonly left_out: number;
}

/** An accepted token by its name, never by its value. */
export interface TokenValue {
  readonly name: string;
  /** Whose it is: of a member of offices, of an MCP client of a hub, or of its operators. */
  readonly kind: "member" | "client" | "operator";
  /** All if `null`. */
  readonly offices: readonly string[] | null;
  readonly roles: readonly string[] | null;
  /** Those that an MCP client may use; all if `null`. */
  readonly computers: readonly string[] | null;
  /** What an MCP client may do; `null` for others. */
  readonly rights: string | null;
  readonly expires: string | null;
  /** Whether it opens nothing any more. */
  readonly expired: boolean;
}

/** A machine in `machines list`. */
export interface MachineValue {
  readonly id: string;
  readonly name: string;
  readonly former_name: string | null;
  readonly offices: readonly string[];
  readonly roles: readonly string[];
  readonly system: string;
  /** The URL by which it has joined. */
  readonly server: string;
  readonly since: string;
  readonly last_seen: string;
  /** `null` while it would answer in an office, and when it has left them awake. */
  readonly asleep_since: string | null;
  /** The offices that it is in now. */
  readonly in: readonly string[];
}

/** `machines list` */
export interface MachinesValue {
  /** Why the file of machines cannot be used. */
  readonly problem: string | null;
  readonly machines: readonly MachineValue[];
  /** Machines that ask to join. Their codes stand on them alone. */
  readonly waiting: readonly {
    readonly name: string;
    readonly system: string;
    readonly address: string;
    readonly server: string;
    readonly since: string;
  }[];
}

/** A grant in `grants list`. */
export interface GrantValue {
  readonly id: string;
  readonly client: string;
  readonly client_id: string;
  readonly returns_to: string;
  readonly consented_by: string;
  readonly resource: string;
  readonly offices: readonly string[];
  /** All if `null`. */
  readonly computers: readonly string[] | null;
  readonly rights: "read" | "confirm" | "call";
  readonly since: string;
  readonly last_used: string | null;
  readonly calls: number;
}
