/** What a page draws, as PDF.js lists it. */
import { type getDocumentProxy, getResolvedPDFJS } from "unpdf";

/** A page, as PDF.js gives it. */
export type PdfPage = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;

/** An operator and its arguments. */
export type Operator = readonly [number: number, args: readonly unknown[]];

/** The operators of a page, in order. */
export interface PageOperators {
  readonly list: readonly Operator[];
  /** The numbers of all operators, by their names. */
  readonly numbers: Awaited<ReturnType<typeof getResolvedPDFJS>>["OPS"];
}

/** Lists what a page draws. Its pictures are decoded. */
export async function operatorsOf(page: PdfPage): Promise<PageOperators> {
  const { OPS } = await getResolvedPDFJS();
  const { fnArray, argsArray } = await page.getOperatorList();
  const list = fnArray.map((number: number, at: number): Operator => [number, argsArray[at] ?? []]);
  return { list, numbers: OPS };
}

/** The numbers of the operators with such names. */
export function numbersOf({ numbers }: PageOperators, name: RegExp): ReadonlySet<number> {
  return new Set(Object.entries(numbers).filter(([each]) => name.test(each)).map(([, number]) => number));
}

/** How coordinates become those of the page: `x' = a x + c y + e`, `y' = b x + d y + f`. */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

/** The operators of a page in order, each with the matrix of its coordinates. */
export function* withMatrices(
  { list, numbers }: PageOperators,
): Generator<readonly [number: number, args: readonly unknown[], matrix: Matrix], void> {
  let matrix: Matrix = [1, 0, 0, 1, 0, 0];
  const saved: Matrix[] = [];
  for (const [operator, args] of list) {
    switch (operator) {
      case numbers.save:
        saved.push(matrix);
        break;
      case numbers.restore:
      case numbers.paintFormXObjectEnd:
        matrix = saved.pop() ?? matrix;
        break;
      case numbers.transform:
        matrix = multiply(matrix, args);
        break;
      case numbers.paintFormXObjectBegin:
        saved.push(matrix);
        if (Array.isArray(args[0])) matrix = multiply(matrix, args[0]);
        break;
    }
    yield [operator, args, matrix];
  }
}

/** The matrix of coordinates that first go through another one. */
export function multiply(matrix: Matrix, by: readonly unknown[]): Matrix {
  const [a, b, c, d, e, f] = matrix;
  const [g = 1, h = 0, i = 0, j = 1, k = 0, l = 0] = by.map(Number);
  return [
    a * g + c * h,
    b * g + d * h,
    a * i + c * j,
    b * i + d * j,
    a * k + c * l + e,
    b * k + d * l + f,
  ];
}
