/** What a page draws, as PDF.js lists it. */
import { type getDocumentProxy, getResolvedPDFJS } from "unpdf";

/** A page, as PDF.js gives it. */
export type PdfPage = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;

/** The numbers of the operators, by their names. */
export type OperatorNumbers = Awaited<ReturnType<typeof getResolvedPDFJS>>["OPS"];

/** An operator and its arguments. */
export type Operator = readonly [number: number, args: readonly unknown[]];

/** The operators of a page, in order. */
export interface PageOperators {
  readonly list: readonly Operator[];
  readonly numbers: OperatorNumbers;
}

/** Lists what a page draws. Its pictures are decoded. */
export async function operatorsOf(page: PdfPage): Promise<PageOperators> {
  const { OPS } = await getResolvedPDFJS();
  const { fnArray, argsArray } = await page.getOperatorList();
  const list = fnArray.map((number: number, at: number): Operator => [number, argsArray[at] ?? []]);
  return { list, numbers: OPS };
}
