import { createHash } from 'node:crypto';
import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { instantColumn, noRows } from '../../../sql/columns.js';
import type { PrepaidDebit, PrepaidWallet } from '../../domain/adjustments/adjustments.js';
import type { AdjustedLine } from '../../domain/adjustments/adjusted-line.js';
import { paidLines, type PaidLine } from '../../domain/adjustments/apply-prepaid-credits.js';
import { zip } from '../../../runtime/failure.js';
import type { InvoiceInputs, InvoiceResult, InvoiceTotals } from '../../domain/invoice/invoice.js';
import type { Money } from '../../domain/money/money.js';
import { encodeValue } from '../../domain/invoice/snapshot/encode-value.js';
import { currentRules, rulesOf } from '../../domain/invoice/pricing/rules.js';
import {
  decodeSnapshot,
  encodeSnapshot,
  withOtherWallets,
} from '../../domain/invoice/snapshot/invoice-snapshot.js';
import { adjustGiven, decodeGiven, encodeGiven, type GivenInvoice } from './given-document.js';
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
  const { version: rulesVersion } = currentRules();
  const text = encodeSnapshot({ rulesVersion, inputs, watermark, timeZoneData });
  return {
    invoiceId,
    rulesVersion,
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
    rulesVersion: given.rulesVersion,
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

/** A stored computation with wallets that pay: what it computes to then, and how it is stored. */
export type PaidComputation = {
  readonly computation: StoredComputation;
  readonly totals: InvoiceTotals;
  /** What the wallets paid of each line, in the order of the lines. */
  readonly applied: readonly Money[];
  /** Each with the lines that it paid. */
  readonly debits: readonly (PrepaidDebit & { readonly lines: readonly PaidLine[] })[];
};

function debitsOf(
  lines: readonly AdjustedLine[],
  wallets: readonly PrepaidWallet[],
  debits: readonly PrepaidDebit[],
): PaidComputation['debits'] {
  return zip(debits, paidLines(lines, wallets, debits)).map(([debit, paid]) => ({
    ...debit,
    lines: paid,
  }));
}

/**
 * A stored computation with wallets that pay (docs/domain.md 20.7).
 * @param priced What it computes to without them; computed again when absent.
 */
export function withWallets(
  { invoiceId, rulesVersion, inputs: text }: StoredComputation,
  wallets: readonly PrepaidWallet[],
  priced?: InvoiceResult,
): PaidComputation {
  const given = decodeGiven(text);
  if (given !== null) {
    const paid = { ...given, wallets };
    const { lines, totals, prepaidDebits } = adjustGiven(paid);
    const debits = debitsOf(lines, wallets, prepaidDebits);
    const applied = lines.map(({ prepaidCreditsApplied }) => prepaidCreditsApplied);
    return { computation: computationOfGiven(invoiceId, paid), totals, applied, debits };
  }
  // A draft is finished by the rules that computed it, also after newer ones have come.
  const { buildInvoice, payInvoice } = rulesOf(rulesVersion);
  const invoice = payInvoice(priced ?? buildInvoice(decodeSnapshot(text).inputs), wallets);
  const paidText = withOtherWallets(text, wallets);
  return {
    computation: {
      invoiceId,
      rulesVersion,
      inputs: paidText,
      inputsSha256: sha256(paidText),
      resultSha256: digestOfResult(invoice),
    },
    totals: invoice.totals,
    applied: invoice.lines.map(({ prepaidCreditsApplied }) => prepaidCreditsApplied),
    debits: debitsOf(invoice.lines, wallets, invoice.prepaidDebits),
  };
}

const computationRow = z.object({
  invoice_id: z.string(),
  rules_version: z.number().int(),
  inputs: z.string(),
  inputs_sha256: z.string(),
  result_sha256: z.string(),
  computed_at: instantColumn,
});

/** The last computations of stored invoices, by invoice. */
export async function findComputations(
  { tx }: StatementUnit,
  invoiceIds: readonly string[],
): Promise<ReadonlyMap<string, StoredComputation>> {
  const rows = await tx.any(sql.type(computationRow)`
    SELECT invoice_id, rules_version, inputs, inputs_sha256, result_sha256, computed_at
    FROM invoice_computations
    WHERE invoice_id = ANY (${sql.array([...invoiceIds], 'text')}) AND ${isOfEnvironment}`);
  return new Map(
    rows.map(({ invoice_id: invoiceId, rules_version: rulesVersion, inputs, ...row }) => {
      const digests = { inputsSha256: row.inputs_sha256, resultSha256: row.result_sha256 };
      return [invoiceId, { invoiceId, rulesVersion, inputs, ...digests }];
    }),
  );
}

/** The last computation of a stored invoice; null when none is stored. */
export async function findComputation(
  unit: StatementUnit,
  invoiceId: string,
): Promise<StoredComputation | null> {
  return (await findComputations(unit, [invoiceId])).get(invoiceId) ?? null;
}
