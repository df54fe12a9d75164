/** Counts the objects of a heap snapshot by class. */

/** The members of V8's format that are read. */
interface Snapshot {
  readonly snapshot: { readonly meta: { readonly node_fields: string[]; readonly node_types: unknown[] } };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

/** Counts the objects in a snapshot file by class. V8 collects garbage before it writes a snapshot. */
export async function takeCensus(file: string): Promise<Map<string, number>> {
  const { snapshot, nodes, strings }: Snapshot = JSON.parse(await Deno.readTextFile(file));
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [typeAt, nameAt] = [fields.indexOf("type"), fields.indexOf("name")];
  const typeNames = types[typeAt];
  const objectType = Array.isArray(typeNames) ? typeNames.indexOf("object") : -1;
  const census = new Map<string, number>();
  for (let at = 0; at < nodes.length; at += fields.length) {
    if (nodes[at + typeAt] !== objectType) continue;
    // The name of a scope has a number that differs between snapshots.
    const name = (strings[nodes[at + nameAt] ?? 0] ?? "").replace(/ @\d+$/, "");
    census.set(name, (census.get(name) ?? 0) + 1);
  }
  return census;
}

/** The classes that have at least `atLeast` more objects, in descending order of growth. */
export function growthOf(
  before: ReadonlyMap<string, number>,
  { after, atLeast }: { readonly after: ReadonlyMap<string, number>; readonly atLeast: number },
): [name: string, before: number, after: number][] {
  return [...after]
    .map(([name, count]): [string, number, number] => [name, before.get(name) ?? 0, count])
    .filter(([, was, is]) => is - was >= atLeast)
    .sort(([, wasA, isA], [, wasB, isB]) => (isB - wasB) - (isA - wasA));
}
