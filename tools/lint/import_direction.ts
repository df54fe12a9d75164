import {
  folderOf,
  isPublished,
  layerOf,
  packageOf,
  resolveImport,
  roomOf,
  toRepositoryPath,
} from "./paths.ts";
import { layerImports, outsideImports, roomImports } from "./layers.ts";
import { visitImports } from "./visit_imports.ts";

/**
 * What a package publishes reaches other packages by name alone: JSR refuses relative imports between packages, and `deno
 * pack` makes a broken tarball of them. Modules of `src/` import only what lies inside `src/`, in their own layer or a layer
 * below it.
 */
export const importDirection: Deno.lint.Rule = {
  create(context) {
    const from = toRepositoryPath(context.filename);
    if (!isPublished(from)) return {};
    return visitImports((specifier, node) => {
      if (!specifier.startsWith(".")) return;
      const to = resolveImport(from, specifier);
      const message = describeOtherPackage(from, to) ?? describeTrespass(from, to);
      if (message !== undefined) context.report({ node, message });
    });
  },
};

function describeOtherPackage(from: string, to: string): string | undefined {
  if (packageOf(from) === packageOf(to) && isPublished(to)) return undefined;
  if (outsideImports[from]?.includes(to)) return undefined;
  return `Cannot import "${to}" from "${from}": it lies outside of the package; import other packages by name`;
}

function describeTrespass(from: string, to: string): string | undefined {
  if (!from.startsWith("src/")) return from.includes("src/") ? describePrivateModule(from, to) : undefined;
  if (!to.startsWith("src/")) {
    if (outsideImports[from]?.includes(to)) return undefined;
    return `Cannot import "${to}" from "${from}": it lies outside of src/`;
  }
  return describeWrongLayer(from, to) ?? describeWrongRoom(from, to) ?? describePrivateModule(from, to);
}

function describeWrongLayer(from: string, to: string): string | undefined {
  const [layer, target] = [layerOf(from), layerOf(to)];
  const allowed = layerImports[layer];
  if (allowed === undefined) return `Cannot lint "${from}": tools/lint/layers.ts has no layer "${layer}"`;
  if (layer === target || allowed.includes(target)) return undefined;
  const list = allowed.length === 0 ? "no other layer" : allowed.join(", ");
  return `Cannot import "${to}" from "${from}": layer "${layer}" may import ${list}`;
}

function describeWrongRoom(from: string, to: string): string | undefined {
  const rooms = roomImports[layerOf(from)];
  const [room, target] = [roomOf(from), roomOf(to)];
  if (rooms === undefined || layerOf(from) !== layerOf(to) || room === undefined || room === target) {
    return undefined;
  }
  if (target !== undefined && rooms[room]?.includes(target) === true) return undefined;
  const list = rooms[room]?.join(", ") || "no other room";
  return `Cannot import "${to}" from "${from}": room "${room}" of its layer may import ${list}`;
}

function describePrivateModule(from: string, to: string): string | undefined {
  const folder = folderOf(to);
  const isPrivate = to.slice(folder.length).startsWith("_");
  if (!isPrivate || from.startsWith(folder)) return undefined;
  return `Cannot import "${to}" from "${from}": it is private to ${folder}`;
}
