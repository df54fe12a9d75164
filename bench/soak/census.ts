/** Who lives in the heap: the objects of a heap snapshot by the name of their class. */

/** The part of V8's format that is needed. */
interface Snapshot {
  readonly snapshot: { readonly meta: { readonly node_fields: string[]; readonly node_types: unknown[] } };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

/** Counts the objects in a snapshot file by class. Only what is reachable is in it: V8 collects before it writes. */
export async function takeCensus(file: string): Promise<Map<string, number>> {
  const { snapshot, nodes, strings }: Snapshot = JSON.parse(await Deno.readTextFile(file));
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [typeAt, nameAt] = [fields.indexOf("type"), fields.indexOf("name")];
  const typeNames = types[typeAt];
  const objectType = Array.isArray(typeNames) ? typeNames.indexOf("object") : -1;
  const census = new Map<string, number>();
  for (let at = 0; at < nodes.length; at += fields.length) {
    if (nodes[at + typeAt] !== objectType) continue;
    // A scope is known by its number, which another snapshot does not know.
    const name = (strings[nodes[at + nameAt] ?? 0] ?? "").replace(/ @\d+$/, "");
    census.set(name, (census.get(name) ?? 0) + 1);
  }
  return census;
}

/** The classes of which there are more by at least `atLeast`, most first. */
export function growthOf(
  before: ReadonlyMap<string, number>,
  { after, atLeast }: { readonly after: ReadonlyMap<string, number>; readonly atLeast: number },
): [name: string, before: number, after: number][] {
  return [...after]
    .map(([name, count]): [string, number, number] => [name, before.get(name) ?? 0, count])
    .filter(([, was, is]) => is - was >= atLeast)
    .sort(([, wasA, isA], [, wasB, isB]) => (isB - wasB) - (isA - wasA));
}
