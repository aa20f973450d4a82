import { createHash } from 'node:crypto';
import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { instantColumn, noRows } from '../../../sql/columns.js';
import type { InvoiceInputs, InvoiceResult } from '../../domain/invoice/invoice.js';
import { encodeValue } from '../../domain/invoice/snapshot/encode-value.js';
import { encodeSnapshot, RULES_VERSION } from '../../domain/invoice/snapshot/invoice-snapshot.js';
import { adjustGiven, encodeGiven, type GivenInvoice } from './given-document.js';
import type { UsageWatermark } from '../../domain/usage/watermark.js';
import { CURRENT_ENVIRONMENT, isOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit, Unit } from '../../records/unit.js';

/** A computation of an invoice with everything that decided it (docs/domain.md 13.1.6). */
export type StoredComputation = {
  readonly invoiceId: string;
  readonly rulesVersion: number;
  /** As `encodeSnapshot` wrote them. */
  readonly inputs: string;
  readonly inputsSha256: string;
  readonly resultSha256: string;
};

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The digest of everything that an invoice computed to, the trace of each line included. */
export function digestOfResult(result: InvoiceResult): string {
  return sha256(JSON.stringify(encodeValue(result)));
}

/** What is kept of a computation. */
export function computationOf(
  invoiceId: string,
  computed: {
    readonly inputs: InvoiceInputs;
    readonly invoice: InvoiceResult;
    readonly watermark: UsageWatermark;
  },
): StoredComputation {
  const { inputs, invoice, watermark } = computed;
  const timeZoneData = process.versions['tz'] ?? 'unknown';
  const text = encodeSnapshot({ inputs, watermark, timeZoneData });
  return {
    invoiceId,
    rulesVersion: RULES_VERSION,
    inputs: text,
    inputsSha256: sha256(text),
    resultSha256: digestOfResult(invoice),
  };
}

/** The digest of everything that given lines adjust to. */
export function digestOfGiven(given: GivenInvoice): string {
  return sha256(JSON.stringify(encodeValue(adjustGiven(given))));
}

/** What is kept of an invoice whose lines were given. */
export function computationOfGiven(invoiceId: string, given: GivenInvoice): StoredComputation {
  const text = encodeGiven(given);
  return {
    invoiceId,
    rulesVersion: RULES_VERSION,
    inputs: text,
    inputsSha256: sha256(text),
    resultSha256: digestOfGiven(given),
  };
}

/** Keeps the computations of invoices, each in the place of an earlier one of the same invoice. */
export async function storeComputations(
  { tx, now }: Unit,
  computations: readonly StoredComputation[],
): Promise<void> {
  if (computations.length === 0) return;
  const rows = computations.map((one) => ({
    invoice_id: one.invoiceId,
    rules_version: one.rulesVersion,
    inputs: one.inputs,
    inputs_sha256: one.inputsSha256,
    result_sha256: one.resultSha256,
  }));
  await tx.query(sql.type(noRows)`
    INSERT INTO invoice_computations (tenant_id, environment_id, invoice_id, rules_version, inputs,
      inputs_sha256, result_sha256, computed_at)
    SELECT ${CURRENT_ENVIRONMENT}, invoice_id, rules_version, inputs, inputs_sha256, result_sha256,
      ${formatInstant(now)}::timestamptz
    FROM jsonb_populate_recordset(NULL::invoice_computations, ${JSON.stringify(rows)}::jsonb)
    ON CONFLICT (tenant_id, environment_id, invoice_id) DO UPDATE
    SET rules_version = excluded.rules_version, inputs = excluded.inputs,
      inputs_sha256 = excluded.inputs_sha256, result_sha256 = excluded.result_sha256,
      computed_at = excluded.computed_at`);
}

const computationRow = z.object({
  invoice_id: z.string(),
  rules_version: z.number().int(),
  inputs: z.string(),
  inputs_sha256: z.string(),
  result_sha256: z.string(),
  computed_at: instantColumn,
});

/** The last computation of a stored invoice; null for one whose amounts were given. */
export async function findComputation(
  { tx }: StatementUnit,
  invoiceId: string,
): Promise<StoredComputation | null> {
  const row = await tx.maybeOne(sql.type(computationRow)`
    SELECT invoice_id, rules_version, inputs, inputs_sha256, result_sha256, computed_at
    FROM invoice_computations WHERE invoice_id = ${invoiceId} AND ${isOfEnvironment}`);
  if (row === null) return null;
  const { rules_version: rulesVersion, inputs } = row;
  const digests = { inputsSha256: row.inputs_sha256, resultSha256: row.result_sha256 };
  return { invoiceId, rulesVersion, inputs, ...digests };
}
