/** Keywords that apply schemas: to the same value, or to its members. */
import { isRecord } from "../../../json.ts";
import { toAlternative } from "./problems.ts";
import { refuse } from "./rules.ts";
import { apart, type Rule, type Run, type Scope, type Subschema } from "./run.ts";

/** A schema that a reference leads to, known once the whole schema was read. */
export interface Target {
  schema: Subschema;
}

/** `$ref` and its like. */
export function refRule(target: Target): Rule {
  return (value, scope, run) => run.evaluate(target.schema, value, scope);
}

/** `allOf`. */
export function allOfRule(schemas: readonly Subschema[]): Rule {
  return (value, scope, run) => {
    let isTaken = true;
    for (const schema of schemas) if (!run.evaluate(schema, value, scope)) isTaken = false;
    return isTaken;
  };
}

/** `anyOf` and `oneOf`: what is wrong with each alternative is told as one finding. */
export function alternativesRule(keyword: "anyOf" | "oneOf", schemas: readonly Subschema[]): Rule {
  return (value, scope, run) => {
    const inside = apart(scope);
    let fitting = 0;
    for (const schema of schemas) {
      const branch = { ...inside, evaluated: apart(scope).evaluated };
      if (!run.evaluate(schema, value, branch)) continue;
      fitting++;
      scope.evaluated.merge(branch.evaluated, run);
    }
    if (keyword === "anyOf" ? fitting > 0 : fitting === 1) return true;
    const { place } = scope;
    const union = { place, keyword, params: { alternatives: schemas.length, fitting } };
    const findings = fitting > 0 ? [union] : toAlternative(union, inside.findings.kept);
    for (const finding of findings) scope.findings.add(finding);
    return false;
  };
}

/** `not`. */
export function notRule(schema: Subschema): Rule {
  return (value, scope, run) =>
    !run.evaluate(schema, value, apart(scope)) || refuse(scope, { keyword: "not", params: {} });
}

/** `if` with `then` and `else`. */
export function ifRule(
  condition: Subschema,
  { then = true, otherwise = true }: { readonly then?: Subschema; readonly otherwise?: Subschema },
): Rule {
  return (value, scope, run) => {
    const trial = apart(scope);
    if (!run.evaluate(condition, value, trial)) return run.evaluate(otherwise, value, scope);
    scope.evaluated.merge(trial.evaluated, run);
    return run.evaluate(then, value, scope);
  };
}

/** `dependentSchemas`, and what `dependencies` holds of schemas. */
export function dependentSchemasRule(schemas: ReadonlyMap<string, Subschema>): Rule {
  return (value, scope, run) => {
    if (!isRecord(value)) return true;
    let isTaken = true;
    for (const name of Object.keys(value)) {
      const schema = schemas.get(name);
      if (schema !== undefined && !run.evaluate(schema, value, scope)) isTaken = false;
    }
    return isTaken;
  };
}

/** `properties`. */
export function propertiesRule(schemas: ReadonlyMap<string, Subschema>): Rule {
  return (value, scope, run) => {
    if (!isRecord(value)) return true;
    let isTaken = true;
    for (const [key, member] of Object.entries(value)) {
      const schema = schemas.get(key);
      if (schema === undefined) continue;
      scope.evaluated.addName(key);
      if (!run.evaluateMember(schema, { key, value: member }, scope)) isTaken = false;
    }
    return isTaken;
  };
}

/** `additionalProperties` and `unevaluatedProperties`: a schema for the members that `isKnown` does not hold for. */
export function otherPropertiesRule(
  keyword: "additionalProperties" | "unevaluatedProperties",
  { schema, known, isKnown }: {
    readonly schema: Subschema;
    /** The names that may have been meant. */
    readonly known: ReadonlyMap<string, unknown>;
    readonly isKnown: (name: string, scope: Scope) => boolean;
  },
): Rule {
  return (value, scope, run) => {
    if (!isRecord(value)) return true;
    let isTaken = true;
    for (const [key, member] of Object.entries(value)) {
      if (isKnown(key, scope)) continue;
      if (schema === false) {
        isTaken = refuse(scope, { keyword, params: { unknownProperty: key, known } });
      } else if (!run.evaluateMember(schema, { key, value: member }, scope)) isTaken = false;
    }
    scope.evaluated.hasAllNames = true;
    return isTaken;
  };
}

/** `propertyNames`. */
export function propertyNamesRule(schema: Subschema): Rule {
  return (value, scope, run) => {
    if (!isRecord(value)) return true;
    let isTaken = true;
    for (const propertyName of Object.keys(value)) {
      if (run.evaluate(schema, propertyName, apart(scope))) continue;
      isTaken = refuse(scope, { keyword: "propertyNames", params: { propertyName } });
    }
    return isTaken;
  };
}

/** `prefixItems`, and the list form of `items`. */
export function tupleRule(schemas: readonly Subschema[]): Rule {
  return (value, scope, run) => {
    if (!Array.isArray(value)) return true;
    let isTaken = true;
    for (const [key, schema] of schemas.slice(0, value.length).entries()) {
      if (!run.evaluateMember(schema, { key, value: value[key] }, scope)) isTaken = false;
    }
    scope.evaluated.items = Math.max(scope.evaluated.items, Math.min(schemas.length, value.length));
    return isTaken;
  };
}

/** `items`, `additionalItems` and `unevaluatedItems`: a schema for the items from some index on. */
export function otherItemsRule(
  keyword: "items" | "additionalItems" | "unevaluatedItems",
  { schema, from }: { readonly schema: Subschema; readonly from: (scope: Scope) => number },
): Rule {
  return (value, scope, run) => {
    if (!Array.isArray(value)) return true;
    const first = from(scope);
    scope.evaluated.items = Infinity;
    if (schema === false && value.length > first) {
      return refuse(scope, { keyword, params: {}, message: `must not have more than ${first} items` });
    }
    let isTaken = true;
    for (let key = first; key < value.length; key++) {
      if (!run.evaluateMember(schema, { key, value: value[key] }, scope)) isTaken = false;
    }
    return isTaken;
  };
}

/** `contains` with `minContains` and `maxContains`. */
export function containsRule(
  schema: Subschema,
  { least, most }: { readonly least: number; readonly most: number },
): Rule {
  const bound = most === Infinity ? "" : ` and no more than ${most}`;
  const message = `must contain at least ${least}${bound} valid item(s)`;
  return (value, scope, run) => {
    if (!Array.isArray(value)) return true;
    const count = countFitting(schema, value, { scope, run });
    return count >= least && count <= most || refuse(scope, { keyword: "contains", params: {}, message });
  };
}

function countFitting(
  schema: Subschema,
  items: readonly unknown[],
  { scope, run }: { readonly scope: Scope; readonly run: Run },
): number {
  let count = 0;
  for (const item of items) if (run.evaluate(schema, item, apart(scope))) count++;
  return count;
}
