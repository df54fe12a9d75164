import { type Requirement, section } from "./requirement.ts";

/** The requirements of our extensions of the protocol that have a page of their own. */
export const extensions: readonly Requirement[] = [
  ...section("docs/protocol/progress.md#progress", {
    "ext-progress-token": "The Computer sends a progressToken with each call to an MCP server.",
    "ext-progress-shape":
      "Progress of a wrong shape is dropped with one warning; a value that does not grow counts as the last one.",
    "ext-progress-late": "Progress after the result is dropped.",
  }),
  ...section("docs/protocol/extensions.md#clients", {
    "ext-client-name": "An Agent names its client in `agent`, after its own name and a slash.",
    "ext-client-same": "A repeated call and the answer to a question have the `agent` of the call.",
    "ext-client-cancel": "A cancel has the Agent's own name alone.",
    "ext-client-claim": "Who is asked sees the Agent of the session first, and the client as a claim.",
  }),
  ...section("docs/protocol/extensions.md#asked-calls", {
    "ext-ask-call": "The owner is asked before an asked call, whatever is allowed otherwise.",
    "ext-ask-nobody": "An asked call is 4005 where nobody can be asked, and does not run.",
    "ext-ask-unknown": "Where an asked call is not known, the Agent makes no other call in its place.",
  }),
  ...section("docs/protocol/progress.md#following-a-call", {
    "ext-progress-follow": "An Agent is told of the progress of a call that it follows.",
    "ext-progress-opt-in": "Nobody is told of the progress of a call that is not followed.",
    "ext-progress-unknown": "Where the Computer does not know the event, the call runs without progress.",
    "ext-progress-bound": "A Computer remembers 512 calls that have not begun, and forgets the oldest.",
  }),
  ...section("docs/protocol/progress.md#hearing-of-progress", {
    "ext-progress-relay":
      "The Server passes on five members of an update of progress, with the Computer of the session; a wrong shape is 400.",
    "ext-progress-texts":
      "The text of a progress goes to the Agent alone, and known secrets are masked in it.",
    "ext-progress-last": "An Agent that has not read a text before the result reports the numbers.",
    "ext-progress-rate": "The Computer tells of one call at most twice a second.",
  }),
  ...section("docs/protocol/progress.md#more-time-by-progress", {
    "ext-progress-idle":
      "A call with an idle time ends with a time-out when it makes no progress for that long.",
    "ext-progress-restart":
      "Only a value above all before restarts the idle time, and never beyond the timeout.",
    "ext-progress-plain": "Without an idle time, progress gives a call no more time.",
  }),
  ...section("docs/protocol/progress.md#tasks", {
    "mcp-task-support":
      "A tool whose MCP server demands a task is called as one if the server offers tasks; all others are called plainly.",
    "mcp-task-poll": "A task is polled until it ends, and its result answers the call.",
    "mcp-task-interval": "The poll interval of the MCP server is honoured between 100 ms and 10 s.",
    "mcp-task-cancel": "A call that times out or is cancelled cancels its task.",
    "mcp-task-questions": "A task that needs input asks while its result is waited for.",
    "mcp-task-failures":
      "A task that fails answers what its MCP server says; one that is cancelled or lost is 4003.",
    "mcp-task-2026": "A tool of a server of 2026-07-28 that demands a task is 4003.",
  }),
];
