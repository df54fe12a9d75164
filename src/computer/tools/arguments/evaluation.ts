/** One check of arguments against a schema: its budget, the value it looks at, and what it finds. */
import { isRecord } from "../../../json.ts";

/** The budget of one check, in evaluations: at worst some tens of milliseconds. */
const MAX_STEPS = 30_000;
/** The deepest nesting of evaluations. */
const MAX_NESTING = 400;
/** The most findings that are kept; the others are counted. */
const MAX_FINDINGS = 1_000;
/** How many names or values cost as much as one evaluation. */
const ENTRIES_PER_STEP = 8;
/** How many characters of a text cost as much as one evaluation. */
const CHARACTERS_PER_STEP = 1_024;

/** A schema that cannot be checked; the MCP server alone decides about the arguments. */
export class UncheckableSchemaError extends Error {
  override readonly name = "UncheckableSchemaError";
  readonly code = "UNCHECKABLE_SCHEMA";
  /** A clause whose "it" is the schema. */
  readonly reason: string;

  constructor({ reason }: { readonly reason: string }) {
    super(`Cannot check arguments against the input schema: ${reason}`);
    this.reason = reason;
  }
}

/** One keyword of a schema. False when it rejects the value; the reason is then among the findings of the visit. */
export type Rule = (value: unknown, visit: Visit) => boolean;

/** A schema that is an object. */
export interface SchemaNode {
  /** In the order of their findings. */
  readonly rules: Rule[];
  /** Whether a rule needs to know which members the other rules have evaluated. */
  isClosed: boolean;
}

/** A schema. */
export type Subschema = SchemaNode | boolean;

/** Why a value is rejected. */
export type Reason =
  | { readonly kind: "type"; readonly types: readonly string[] }
  | { readonly kind: "values"; readonly allowed: readonly unknown[] }
  /** One of `names` is missing; `requiredBy` is the member that requires it. */
  | { readonly kind: "missing"; readonly names: readonly string[]; readonly requiredBy?: string }
  /** `known`: the names that may have been meant. */
  | { readonly kind: "unknown"; readonly name: string; readonly known: Iterable<string> }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "union"; readonly alternatives: number; readonly fitting: number }
  /** `text` completes a sentence that begins with the name of the argument. */
  | { readonly kind: "other"; readonly text: string };

/** A reason at a place in the arguments. */
export type Finding = Reason & { readonly place: Place };

/** A place in the arguments; the same place is always the same object. */
export class Place {
  /** The name or index in `parent`; undefined for the arguments as a whole. */
  readonly key: string | number | undefined;
  readonly parent: Place | undefined;
  #children: Map<string | number, Place> | undefined;

  constructor(at?: { readonly parent: Place; readonly key: string | number }) {
    this.key = at?.key;
    this.parent = at?.parent;
  }

  /** The place of a member. */
  child(key: string | number): Place {
    const children = this.#children ??= new Map();
    let child = children.get(key);
    if (child === undefined) children.set(key, child = new Place({ parent: this, key }));
    return child;
  }
}

/** Findings, of which a bounded number is kept. */
export class Findings {
  readonly kept: Finding[] = [];
  #count = 0;

  /** How many there are, kept or not. */
  get count(): number {
    return this.#count;
  }

  add(finding: Finding): void {
    this.#count++;
    if (this.kept.length < MAX_FINDINGS) this.kept.push(finding);
  }
}

/** The work that is left for one check. */
export class Budget {
  #steps = MAX_STEPS;
  #nesting = 0;

  /**
   * Takes the cost of some work, in evaluations.
   *
   * @throws {UncheckableSchemaError} when nothing is left.
   */
  spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw tooMuchWork();
  }

  /** Takes the cost of going through so many names or values. */
  spendEntries(count: number): void {
    this.spend(count / ENTRIES_PER_STEP);
  }

  /**
   * Begins an evaluation inside another one; {@linkcode Budget.leave} ends it.
   *
   * @throws {UncheckableSchemaError} when the nesting is too deep.
   */
  enter(): void {
    if (++this.#nesting > MAX_NESTING) {
      throw new UncheckableSchemaError({ reason: "its references never end" });
    }
  }

  /** Ends an evaluation. */
  leave(): void {
    this.#nesting--;
  }
}

/** The end of a check that exceeds its budget. */
export function tooMuchWork(): UncheckableSchemaError {
  return new UncheckableSchemaError({ reason: "checking these arguments against it takes too much work" });
}

/** The evaluation of schemas for one value. */
export class Visit {
  readonly budget: Budget;
  readonly place: Place;
  readonly findings: Findings;
  /** The members that a keyword has evaluated, for `unevaluatedProperties`. */
  #names: Set<string> | undefined;
  hasAllNames = false;
  /** How many items from the front a keyword has evaluated, for `unevaluatedItems`. */
  items = 0;

  constructor(budget: Budget, place: Place = new Place(), findings: Findings = new Findings()) {
    this.budget = budget;
    this.place = place;
    this.findings = findings;
  }

  /** Whether a schema accepts the value of this visit; reasons go to the findings. */
  accepts(schema: Subschema, value: unknown): boolean {
    this.budget.spend(1 + costOf(value));
    if (typeof schema === "boolean") return schema || this.refuse({ kind: "other", text: "is not allowed" });
    this.budget.enter();
    // For a closed schema only the members that it evaluates itself count.
    const visit = schema.isClosed ? this.apart(this.findings) : this;
    let isAccepted = true;
    for (const rule of schema.rules) if (!rule(value, visit)) isAccepted = false;
    if (visit !== this) this.merge(visit);
    this.budget.leave();
    return isAccepted;
  }

  /** The same for a member of the value. */
  acceptsMember(schema: Subschema, key: string | number, member: unknown): boolean {
    return new Visit(this.budget, this.place.child(key), this.findings).accepts(schema, member);
  }

  /** Adds a finding; always false. */
  refuse(reason: Reason): false {
    this.findings.add({ ...reason, place: this.place });
    return false;
  }

  /** A visit of the same value that has evaluated nothing, with separate findings unless they are given. */
  apart(findings: Findings = new Findings()): Visit {
    return new Visit(this.budget, this.place, findings);
  }

  /** Counts what another visit has evaluated as evaluated here. */
  merge(other: Visit): void {
    const names = other.#names;
    if (names !== undefined) {
      this.budget.spendEntries(names.size);
      for (const name of names) this.addName(name);
    }
    this.hasAllNames ||= other.hasAllNames;
    this.items = Math.max(this.items, other.items);
  }

  addName(name: string): void {
    (this.#names ??= new Set()).add(name);
  }

  hasName(name: string): boolean {
    return this.hasAllNames || this.#names?.has(name) === true;
  }
}

/** Like `every()`, but tests all items, so that each of them can add its findings. */
export function all<T>(items: Iterable<T>, test: (item: T) => boolean): boolean {
  let isAccepted = true;
  for (const item of items) if (!test(item)) isAccepted = false;
  return isAccepted;
}

/** The cost of looking at a value, in evaluations. */
function costOf(value: unknown): number {
  if (typeof value === "string") return value.length / CHARACTERS_PER_STEP;
  if (Array.isArray(value)) return value.length / ENTRIES_PER_STEP;
  return isRecord(value) ? Object.keys(value).length / ENTRIES_PER_STEP : 0;
}
