import { rulesOf } from '../../domain/invoice/pricing/rules.js';
import { decodeSnapshot } from '../../domain/invoice/snapshot/invoice-snapshot.js';
import type { InvoiceResult } from '../../domain/invoice/invoice.js';
import { documentLines } from '../../documents/document-lines.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import {
  digestOfGiven,
  digestOfResult,
  sha256,
  type StoredComputation,
} from '../../documents/store/computations.js';
import { adjustGiven, decodeGiven, linesOfGiven } from '../../documents/store/given-document.js';
import { compareDocuments, type Difference, type Recomputed } from './compare-documents.js';

/** A difference of a digest, which the invoice as a whole has. */
function digestDifference(member: string, stored: string, computed: string): readonly Difference[] {
  return stored === computed ? [] : [{ lineItemId: null, member, stored, computed }];
}

/** What a computed invoice is, as far as it is stored. */
export function recomputedOf(document: InvoiceDocument, result: InvoiceResult): Recomputed {
  // Absent means empty: only a true-up names the plan, and that member is not compared.
  const plan = { id: document.header.subscription?.plan_id ?? '' };
  return { ...result, lines: documentLines(result.lines, plan) };
}

/** What the stored inputs compute to, and its digest. */
function recompute(
  document: InvoiceDocument,
  { inputs }: StoredComputation,
): { readonly recomputed: Recomputed; readonly digest: string } {
  const given = decodeGiven(inputs);
  if (given !== null) {
    const adjusted = adjustGiven(given);
    const recomputed = { ...adjusted, lines: linesOfGiven(adjusted) };
    return { recomputed, digest: digestOfGiven(given) };
  }
  const snapshot = decodeSnapshot(inputs);
  const result = rulesOf(snapshot.rulesVersion).buildInvoice(snapshot.inputs);
  return { recomputed: recomputedOf(document, result), digest: digestOfResult(result) };
}

/**
 * Computes an invoice again from its stored inputs, and names every member that is stored
 * otherwise. Needs nothing but the two. @throws TypeError for inputs that this release cannot read.
 */
export function verifyInputs(
  document: InvoiceDocument,
  computation: StoredComputation,
): readonly Difference[] {
  const { recomputed, digest } = recompute(document, computation);
  return [
    ...digestDifference('inputs', computation.inputsSha256, sha256(computation.inputs)),
    ...digestDifference('result', computation.resultSha256, digest),
    ...compareDocuments(document, recomputed),
  ];
}
