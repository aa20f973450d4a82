import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, plain, sumOf } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { instantColumn, numericColumn } from '../../../sql/columns.js';
import type { ExportMetadataFieldDto } from '../../declarations/exports/scheduled-task.resource.js';
import type { INVOICES, InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { accept } from '../../records/refusal.js';
import { mustRead, type ReadUnit } from '../../records/unit.js';
import { readRealTimeBalance } from '../../invoicing/prepaid/real-time-balance.js';
import { isInWindow, type FixedWindow } from './fixed-window.js';
import { ROWS_AT_ONCE, rowOf, type ExportNeeds, type Row } from './export-needs.js';
import { cellOf, metadataCell } from './metadata-cell.js';

type At = Occasion<JobActor>;

/** Reads page after page, each behind the last id of the one before. */
async function* pagesById<Item extends { readonly id: string }>(
  needs: ExportNeeds,
  occasion: At,
  readPage: (unit: ReadUnit, behind: string) => Promise<readonly Item[]>,
): AsyncGenerator<readonly Item[]> {
  let behind = '';
  for (;;) {
    const page = await mustRead(needs, occasion, (unit) => readPage(unit, behind));
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < ROWS_AT_ONCE) return;
    behind = last.id;
  }
}

/** A column of invoices that the audit trail keeps: a file of invoices is read from it. */
type AuditedName = keyof {
  [
    Name in keyof InvoiceRow as Name extends keyof InvoiceColumns
      ? InvoiceColumns[Name] extends { readonly isUnaudited: true }
        ? never
        : Name
      : Name
  ]: true;
};
type InvoiceColumns = (typeof INVOICES)['columns'];

/** The columns of a file of invoices (docs/domain.md 33.6). */
export const INVOICE_COLUMNS = [
  'id',
  'tenant_id',
  'environment_id',
  'customer_id',
  'subscription_id',
  'invoice_number',
  'invoice_type',
  'invoice_status',
  'payment_status',
  'currency',
  'amount_due',
  'amount_paid',
  'amount_remaining',
  'subtotal',
  'total',
  'total_discount',
  'total_tax',
  'adjustment_amount',
  'refunded_amount',
  'billing_sequence',
  'description',
  'due_date',
  'paid_at',
  'voided_at',
  'finalized_at',
  'billing_period',
  'period_start',
  'period_end',
  'invoice_pdf_url',
  'billing_reason',
  'metadata',
  'idempotency_key',
  'version',
  'status',
  'created_by',
  'updated_by',
  'created_at',
  'updated_at',
] as const satisfies readonly AuditedName[];

/** The columns that a manifest adds up. */
export const INVOICE_SUMS = [
  'amount_due',
  'amount_paid',
  'amount_remaining',
  'subtotal',
  'total',
  'total_discount',
  'total_tax',
  'refunded_amount',
] as const;

const invoiceVersionRow = z.object({ id: z.string(), after: z.record(z.string(), z.unknown()) });

/**
 * Invoices that were changed in a window, each as its last change in the window left it: the audit
 * trail never changes, so neither does the file. One that changes again appears in a later file.
 */
export async function* invoicePages(
  needs: ExportNeeds,
  occasion: At,
  window: FixedWindow,
): AsyncGenerator<readonly Row[]> {
  const pages = pagesById(needs, occasion, ({ tx }, behind) =>
    tx.any(sql.type(invoiceVersionRow)`
      WITH changed AS (
        SELECT change.entity_id, max(change.entry_number) AS last_entry FROM audit_entries AS change
        WHERE change.entity_type = 'invoice' AND change.entity_id > ${behind}
          AND ${isInWindow(window)} AND ${rowIsOfEnvironment('change')}
        GROUP BY change.entity_id ORDER BY change.entity_id LIMIT ${ROWS_AT_ONCE}
      )
      SELECT changed.entity_id AS id, entry.after FROM changed
      JOIN audit_entries AS entry ON entry.entity_type = 'invoice'
        AND entry.entry_number = changed.last_entry AND ${rowIsOfEnvironment('entry')}
      ORDER BY changed.entity_id`),
  );
  for await (const page of pages) {
    yield page.map(({ after }) => INVOICE_COLUMNS.map((name) => cellOf(after[name])));
  }
}

export const TOP_UP_COLUMNS = [
  'topup_id',
  'external_id',
  'name',
  'wallet_id',
  'amount',
  'credit_balance_before',
  'credit_balance_after',
  'reference_id',
  'transaction_reason',
  'created_at',
] as const;

const decimalText = numericColumn.transform((value) => plain(decimalOf(value)));
const topUpRow = z.object({
  id: z.string(),
  external_id: z.string().nullable(),
  name: z.string().nullable(),
  wallet_id: z.string(),
  amount: decimalText,
  credit_balance_before: decimalText.nullable(),
  credit_balance_after: decimalText.nullable(),
  reference_id: z.string().nullable(),
  transaction_reason: z.string(),
  created_at: instantColumn,
});

/**
 * Credits that were completed in a window: a purchase that is paid later is in the file of the time
 * in which it was paid.
 */
export async function* topUpPages(
  needs: ExportNeeds,
  occasion: At,
  window: FixedWindow,
): AsyncGenerator<readonly Row[]> {
  const pages = pagesById(needs, occasion, ({ tx }, behind) =>
    tx.any(sql.type(topUpRow)`
      WITH completed AS (
        SELECT DISTINCT change.entity_id FROM audit_entries AS change
        WHERE change.entity_type = 'wallet_transaction' AND change.entity_id > ${behind}
          AND change.after ->> 'type' = 'credit' AND change.after ->> 'transaction_status' = 'completed'
          AND change.before ->> 'transaction_status' IS DISTINCT FROM 'completed'
          AND ${isInWindow(window)} AND ${rowIsOfEnvironment('change')}
        ORDER BY change.entity_id LIMIT ${ROWS_AT_ONCE}
      )
      SELECT credit.id, customer.external_id, customer.name, credit.wallet_id, credit.amount,
        credit.credit_balance_before, credit.credit_balance_after, credit.reference_id,
        credit.transaction_reason, credit.created_at
      FROM completed
      JOIN wallet_transactions AS credit
        ON credit.id = completed.entity_id AND ${rowIsOfEnvironment('credit')}
      JOIN customers AS customer
        ON customer.id = credit.customer_id AND ${rowIsOfEnvironment('customer')}
      ORDER BY credit.id`),
  );
  for await (const page of pages) {
    yield page.map(({ id, created_at: at, ...row }) =>
      rowOf(TOP_UP_COLUMNS, { ...row, topup_id: id, created_at: formatInstant(at) }),
    );
  }
}

export const CREDIT_USAGE_COLUMNS = [
  'name',
  'customer_external_id',
  'customer_id',
  'current_balance',
  'real_time_balance',
  'number_of_wallets',
] as const;

const metadataColumn = z.record(z.string(), z.unknown());
const holderRow = z.object({
  id: z.string(),
  name: z.string().nullable(),
  external_id: z.string().nullable(),
  metadata: metadataColumn,
  purses: z.array(z.object({ id: z.string(), metadata: metadataColumn })),
});
type Holder = z.output<typeof holderRow>;

/** What a field of the metadata says: of a customer, or of the wallets that have it. */
function fieldCell({ metadata, purses }: Holder, field: ExportMetadataFieldDto): string | null {
  const sources = field.entity_type === 'customer' ? [metadata] : purses.map((one) => one.metadata);
  return metadataCell(sources, field.field_key);
}

async function balancesOf(needs: ExportNeeds, occasion: At, { purses }: Holder) {
  const balances = [];
  for (const { id } of purses) {
    const balance = accept(await readRealTimeBalance(needs, occasion, id));
    balances.push(balance);
  }
  return balances;
}

/** Every customer with a wallet, as things stand now. */
export async function* creditUsagePages(
  needs: ExportNeeds,
  occasion: At,
  fields: readonly ExportMetadataFieldDto[],
): AsyncGenerator<readonly Row[]> {
  const pages = pagesById(needs, occasion, ({ tx }, behind) =>
    tx.any(sql.type(holderRow)`
      SELECT customer.id, customer.name, customer.external_id, customer.metadata,
        jsonb_agg(jsonb_build_object('id', wallet.id, 'metadata', wallet.metadata)
          ORDER BY wallet.created_at, wallet.id) AS purses
      FROM customers AS customer
      JOIN wallets AS wallet ON wallet.customer_id = customer.id
        AND wallet.status = 'published' AND wallet.wallet_status <> 'closed'
        AND ${rowIsOfEnvironment('wallet')}
      WHERE customer.id > ${behind} AND ${rowIsOfEnvironment('customer')}
      GROUP BY customer.id ORDER BY customer.id LIMIT ${ROWS_AT_ONCE}`),
  );
  for await (const page of pages) {
    const rows: Row[] = [];
    for (const holder of page) {
      const balances = await balancesOf(needs, occasion, holder);
      const sum = (texts: readonly string[]) => plain(sumOf(texts.map(decimalOf)));
      const cells = {
        name: holder.name,
        customer_external_id: holder.external_id,
        customer_id: holder.id,
        current_balance: sum(balances.map(({ balance }) => balance)),
        real_time_balance: sum(balances.map(({ real_time_balance: balance }) => balance)),
        number_of_wallets: String(balances.length),
      };
      rows.push([
        ...rowOf(CREDIT_USAGE_COLUMNS, cells),
        ...fields.map((field) => fieldCell(holder, field)),
      ]);
    }
    yield rows;
  }
}
