/** One check of arguments by a schema: what it may cost, where it stands, and what it finds. */

/** The most that one check may cost, in evaluations: at worst some tens of milliseconds. */
const MAX_STEPS = 30_000;
/** The deepest nesting of evaluations. */
const MAX_NESTING = 400;
/** The most findings that are kept; the others are counted. */
const MAX_FINDINGS = 1_000;
/** How many names or values are looked through at the cost of one evaluation. */
const ENTRIES_PER_STEP = 8;
/** How many characters are looked through at the cost of one evaluation. */
const CHARACTERS_PER_STEP = 1_024;

/** Why a schema is not checked. */
export class UncheckableSchemaError extends Error {
  override readonly name = "UncheckableSchemaError";
  readonly code = "UNCHECKABLE_SCHEMA";
  /** Why, in a few words about "it", the schema. */
  readonly reason: string;

  constructor({ reason }: { readonly reason: string }) {
    super(`Cannot check arguments against the input schema: ${reason}`);
    this.reason = reason;
  }
}

/** One keyword of a schema: whether it takes a value. What is wrong goes to the findings of the scope. */
export type Rule = (value: unknown, scope: Scope, run: Run) => boolean;

/** An object schema, ready to check values. */
export interface SchemaNode {
  /** In the order in which their findings are told. */
  readonly rules: Rule[];
  /** It asks what its other keywords have evaluated. */
  isClosed: boolean;
}

/** A schema: what `true` and `false` stand for is told apart when it is evaluated. */
export type Subschema = SchemaNode | boolean;

/** One thing that a schema does not take. */
export interface SchemaFinding {
  readonly place: Place;
  readonly keyword: string;
  /** What the keyword asks for, and which member is about it. */
  readonly params: Readonly<Record<string, unknown>>;
  /** What the value must be like, where the keyword alone does not say it. */
  readonly message?: string | undefined;
}

/** A place in the arguments; the same place is the same object. */
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

/** What is wrong, up to a bounded number of findings. */
export class Findings {
  readonly kept: SchemaFinding[] = [];
  #count = 0;

  /** How many there are, kept or not. */
  get count(): number {
    return this.#count;
  }

  add(finding: SchemaFinding): void {
    this.#count++;
    if (this.kept.length < MAX_FINDINGS) this.kept.push(finding);
  }
}

/** Which members of one value some keyword has looked at, for `unevaluatedProperties` and `unevaluatedItems`. */
export class Evaluated {
  #names: Set<string> | undefined;
  hasAllNames = false;
  /** How many items from the front. */
  items = 0;

  addName(name: string): void {
    (this.#names ??= new Set()).add(name);
  }

  hasName(name: string): boolean {
    return this.hasAllNames || this.#names?.has(name) === true;
  }

  merge(other: Evaluated, run: Run): void {
    const names = other.#names;
    if (names !== undefined) {
      run.spend(names.size / ENTRIES_PER_STEP);
      for (const name of names) this.addName(name);
    }
    this.hasAllNames ||= other.hasAllNames;
    this.items = Math.max(this.items, other.items);
  }
}

/** What a schema's keywords share while they look at one value. */
export interface Scope {
  readonly place: Place;
  readonly findings: Findings;
  readonly evaluated: Evaluated;
}

/** A scope for the same value whose findings and evaluated members are its own. */
export function apart({ place }: Scope): Scope {
  return { place, findings: new Findings(), evaluated: new Evaluated() };
}

/** One check, ended when it costs too much. */
export class Run {
  #steps = MAX_STEPS;
  #nesting = 0;

  /**
   * Takes the cost of some work from what is left.
   *
   * @throws {UncheckableSchemaError} when nothing is left.
   */
  spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) {
      throw new UncheckableSchemaError({ reason: "checking these arguments against it takes too much work" });
    }
  }

  /** The cost of going through so many names or values. */
  spendEntries(count: number): void {
    this.spend(count / ENTRIES_PER_STEP);
  }

  /** Whether `schema` takes the value of this scope. */
  evaluate(schema: Subschema, value: unknown, scope: Scope): boolean {
    this.spend(1 + valueWeight(value));
    if (typeof schema === "boolean") {
      if (!schema) scope.findings.add({ place: scope.place, keyword: "false schema", params: {} });
      return schema;
    }
    if (++this.#nesting > MAX_NESTING) {
      throw new UncheckableSchemaError({ reason: "its references never end" });
    }
    // Only what stands in the schema itself or below it counts as evaluated for it.
    const own = schema.isClosed ? { ...scope, evaluated: new Evaluated() } : scope;
    let isTaken = true;
    for (const rule of schema.rules) if (!rule(value, own, this)) isTaken = false;
    if (own !== scope) scope.evaluated.merge(own.evaluated, this);
    this.#nesting--;
    return isTaken;
  }

  /** The same for a member of the scope's value. */
  evaluateMember(
    schema: Subschema,
    member: { readonly key: string | number; readonly value: unknown },
    scope: Scope,
  ) {
    const { place, findings } = scope;
    return this.evaluate(schema, member.value, {
      place: place.child(member.key),
      findings,
      evaluated: new Evaluated(),
    });
  }
}

/** What looking at a value costs, in evaluations. */
function valueWeight(value: unknown): number {
  if (typeof value === "string") return value.length / CHARACTERS_PER_STEP;
  if (typeof value !== "object" || value === null) return 0;
  return (Array.isArray(value) ? value.length : Object.keys(value).length) / ENTRIES_PER_STEP;
}
