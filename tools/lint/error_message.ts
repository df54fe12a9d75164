import { toRepositoryPath } from "./paths.ts";

/** The parts of a message that are written out; `undefined` where its edge is a value. */
interface Edges {
  readonly start: string | undefined;
  readonly end: string | undefined;
}

/** Messages of errors begin with a capital letter and have no final period, as in Deno's standard library. */
export const errorMessage: Deno.lint.Rule = {
  create(context) {
    // Tests throw what peers and users throw.
    if (/(^|\/)tests\//.test(toRepositoryPath(context.filename))) return {};
    const check = (args: readonly Deno.lint.Node[]) => {
      // The message of a protocol error stands second, after the code.
      const node = args.slice(0, 2).find((argument) => edgesOf(argument) !== undefined);
      const edges = node && edgesOf(node);
      if (edges === undefined) return;
      if (/^\p{Ll}/u.test(edges.start ?? "")) {
        context.report({ node, message: "Error messages begin with a capital letter" });
      }
      if (/(?<!\.)\.\s*$/.test(edges.end ?? "")) {
        context.report({ node, message: "Error messages have no final period" });
      }
    };
    return {
      NewExpression(node) {
        if (node.callee.type === "Identifier" && node.callee.name.endsWith("Error")) check(node.arguments);
      },
      CallExpression(node) {
        if (node.callee.type !== "Super") return;
        if (isInErrorClass(context.sourceCode.getAncestors(node))) check(node.arguments);
      },
    };
  },
};

/** The written-out edges of a message; `undefined` for other expressions. */
export function edgesOf(node: Deno.lint.Node): Edges | undefined {
  if (node.type === "Literal" && typeof node.value === "string") {
    return { start: node.value, end: node.value };
  }
  if (node.type === "TemplateLiteral") {
    return { start: node.quasis.at(0)?.cooked, end: node.quasis.at(-1)?.cooked };
  }
  if (node.type === "BinaryExpression" && node.operator === "+") {
    const [left, right] = [edgesOf(node.left), edgesOf(node.right)];
    return left || right ? { start: left?.start, end: right?.end } : undefined;
  }
  return undefined;
}

/** Whether the innermost class around a node has an error for its parent; the ancestors come outermost first. */
function isInErrorClass(ancestors: readonly Deno.lint.Node[]): boolean {
  const around = ancestors.findLast((node) =>
    node.type === "ClassDeclaration" || node.type === "ClassExpression"
  );
  const parent = around?.superClass;
  return parent?.type === "Identifier" && parent.name.endsWith("Error");
}
