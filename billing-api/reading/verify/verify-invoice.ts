import { decodeSnapshot } from '../../domain/invoice/snapshot/invoice-snapshot.js';
import type { Reading } from '../../records/occasion.js';
import { isRefusal, Refusal, Refused } from '../../records/refusal.js';
import { readUnit } from '../../records/unit.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { findComputation, type StoredComputation } from '../../documents/store/computations.js';
import { decodeGiven } from '../../documents/store/given-document.js';
import { readDocument } from '../../documents/store/read-documents.js';
import { readCameLater, type LaterUsage } from './came-later.js';
import { compareDocuments, type Difference } from './compare-documents.js';
import { measureAgain } from './measure-again.js';
import { recomputedOf, verifyInputs } from './verify-inputs.js';

/** A stored invoice with what it was computed from. */
export type VerifiedInvoice = {
  readonly document: InvoiceDocument;
  readonly computation: StoredComputation;
};

/** Whether a stored invoice still is what it was computed to. */
export type Verification = VerifiedInvoice & {
  readonly fromInputs: readonly Difference[];
  /** Null when it could not be measured again, for the reason. */
  readonly fromEvents: readonly Difference[] | null;
  readonly reason: string | null;
  /** Usage that came after the watermark; null where it cannot be told. */
  readonly cameLater: readonly LaterUsage[] | null;
};

/** A stored invoice with its computation, or the 404 that names it. */
export function readVerified(
  dependencies: UsageReadDependencies,
  reading: Reading,
  id: string,
): Promise<VerifiedInvoice | Refusal> {
  return readUnit(dependencies, reading, async (unit) => {
    const document = await readDocument(unit, id);
    const computation = await findComputation(unit, id);
    if (computation !== null) return { document, computation };
    throw new Refused(
      new Refusal('invalid_operation', `what invoice ${id} was computed from is not stored`),
    );
  });
}

async function verifyEvents(
  dependencies: UsageReadDependencies,
  reading: Reading,
  { document, computation }: VerifiedInvoice,
): Promise<Pick<Verification, 'fromEvents' | 'reason' | 'cameLater'>> {
  const cameLater = null;
  if (decodeGiven(computation.inputs) !== null) {
    return {
      fromEvents: null,
      reason: 'the amounts of its lines were given, not measured',
      cameLater,
    };
  }
  const { watermark, ...snapshot } = decodeSnapshot(computation.inputs);
  if (watermark === null) {
    return { fromEvents: null, reason: 'its usage was not read from a log', cameLater };
  }
  const known = { document, snapshot: { ...snapshot, watermark } };
  const result = await measureAgain(dependencies, reading.environment, known);
  const later = { id: computation.invoiceId, inputs: snapshot.inputs };
  const told = { cameLater: await readCameLater(dependencies, reading, later) };
  if (isRefusal(result)) return { fromEvents: null, reason: result.message, ...told };
  const fromEvents = compareDocuments(document, recomputedOf(document, result));
  return { fromEvents, reason: null, ...told };
}

/**
 * Computes a stored invoice again: from its stored inputs, and from the raw events below its
 * watermark. @throws DependencyError when a database fails.
 */
export async function verifyInvoice(
  dependencies: UsageReadDependencies,
  reading: Reading,
  id: string,
): Promise<Verification | Refusal> {
  const found = await readVerified(dependencies, reading, id);
  if (isRefusal(found)) return found;
  const { document, computation } = found;
  const fromInputs = verifyInputs(document, computation);
  return { ...found, fromInputs, ...(await verifyEvents(dependencies, reading, found)) };
}
