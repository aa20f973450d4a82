import { decodeValue } from '../../domain/invoice/snapshot/decode-value.js';
import { encodeValue, type JsonValue } from '../../domain/invoice/snapshot/encode-value.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import type { Difference } from './compare-documents.js';
import type { VerifiedInvoice } from './verify-invoice.js';
import { verifyInputs } from './verify-inputs.js';

/** How a bundle is written. */
const FORMAT = 1;

/** A stored invoice with what it was computed from: enough to compute it again anywhere. */
export interface InvoiceBundleDto {
  /** @isInt */
  format: number;
  invoice_id: string;
  /** The invoice as it is stored, without loss. */
  document: string;
  /** @isInt */
  rules_version: number;
  /** Everything that decided it. */
  inputs: string;
  inputs_sha256: string;
  result_sha256: string;
}

export function bundleOf({ document, computation }: VerifiedInvoice): InvoiceBundleDto {
  return {
    format: FORMAT,
    invoice_id: computation.invoiceId,
    document: JSON.stringify(encodeValue(document)),
    rules_version: computation.rulesVersion,
    inputs: computation.inputs,
    inputs_sha256: computation.inputsSha256,
    result_sha256: computation.resultSha256,
  };
}

/**
 * The invoice of a bundle as it was stored.
 * @throws TypeError for a bundle that this release cannot read.
 */
export function documentOf(bundle: InvoiceBundleDto): InvoiceDocument {
  if (bundle.format !== FORMAT) {
    throw new TypeError(`this release cannot read format ${bundle.format} of a bundle`);
  }
  // Written by `bundleOf` from the same type.
  return decodeValue(JSON.parse(bundle.document) as JsonValue) as InvoiceDocument;
}

/**
 * Computes the invoice of a bundle again, and names every difference. Needs no database.
 * @throws TypeError for a bundle that this release cannot read.
 */
export function verifyBundle(bundle: InvoiceBundleDto): readonly Difference[] {
  const document = documentOf(bundle);
  const { invoice_id: invoiceId, rules_version: rulesVersion, inputs } = bundle;
  const digests = { inputsSha256: bundle.inputs_sha256, resultSha256: bundle.result_sha256 };
  return verifyInputs(document, { invoiceId, rulesVersion, inputs, ...digests });
}
