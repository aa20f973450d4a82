import { CREDIT_NOTE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { sql } from 'slonik';
import { z } from 'zod';
import { numericColumn } from '../../../sql/columns.js';
import { rowIsOfEnvironment, rowIsIn } from '../../records/conditions.js';
import type { ReadUnit } from '../../records/unit.js';

const unaccountedRow = z.object({
  entity_id: z.string(),
  reason: z.string(),
  named: z.string(),
  given: numericColumn,
  arrived: numericColumn,
});

/**
 * What documents give to wallets, by the reason of the credits and the record that they name: each
 * gives once.
 */
const sources = sql.fragment`
  SELECT 'PURCHASED_CREDIT_DIRECT' AS reason, payment.id AS source, payment.amount AS given
  FROM payments AS payment
  WHERE payment.destination_type = 'CUSTOMER' AND payment.succeeded_at IS NOT NULL AND ${rowIsOfEnvironment('payment')}
  UNION ALL
  SELECT 'INVOICE_VOID_REFUND', payment.id, CASE payment.payment_status WHEN 'VOIDED' THEN payment.amount
    ELSE payment.refunded_amount END
  FROM payments AS payment
  WHERE payment.payment_method_type = 'CREDITS' AND ${rowIsOfEnvironment('payment')}
  UNION ALL
  SELECT 'INVOICE_VOID_REFUND', posting.entity_id, -sum(posting.amount) FROM ledger_postings AS posting
  JOIN ledger_groups AS movement ON movement.id = posting.group_id AND ${rowIsOfEnvironment('movement')}
  WHERE movement.kind = 'invoice.voided' AND posting.account = 'wallet' AND posting.amount < 0
    AND ${rowIsOfEnvironment('posting')}
  GROUP BY 2
  UNION ALL
  SELECT 'CREDIT_NOTE', note.id, note.total_amount FROM credit_notes AS note
  WHERE note.credit_note_type = 'REFUND' AND note.wallet_transaction_id IS NULL AND ${rowIsIn(['note', 'credit_note_status'], CREDIT_NOTE, 'given')} AND ${rowIsOfEnvironment('note')}
  UNION ALL
  SELECT 'CREDIT_NOTE', invoice.id, greatest(0, invoice.total_discount - invoice.subtotal - invoice.total_tax)
  FROM invoices AS invoice
  WHERE invoice.finalized_at IS NOT NULL AND ${rowIsOfEnvironment('invoice')}
  UNION ALL
  SELECT 'PURCHASED_CREDIT_INVOICED', invoice.id, 1 FROM invoices AS invoice
  WHERE invoice.finalized_at IS NOT NULL AND ${rowIsOfEnvironment('invoice')}
  UNION ALL
  SELECT 'PURCHASED_CREDIT_BONUS', invoice.id, 1 FROM invoices AS invoice
  WHERE invoice.finalized_at IS NOT NULL AND ${rowIsOfEnvironment('invoice')}
  UNION ALL
  SELECT 'credits that a refund had taken', taken.parent_transaction_id, sum(taken.amount) FROM wallet_transactions AS taken
  WHERE taken.type = 'debit' AND taken.parent_transaction_id IS NOT NULL AND ${rowIsOfEnvironment('taken')}
  GROUP BY 2
  UNION ALL
  SELECT 'SUBSCRIPTION_CREDIT_GRANT', application.wallet_transaction_id, credit_grant.credits
  FROM grant_applications AS application
  JOIN credit_grants AS credit_grant ON credit_grant.id = application.credit_grant_id AND ${rowIsOfEnvironment('credit_grant')}
  WHERE application.application_status = 'applied' AND ${rowIsOfEnvironment('application')}
  UNION ALL
  SELECT 'SUBSCRIPTION_CREDIT_GRANT', note.wallet_transaction_id, note.total_amount FROM credit_notes AS note
  WHERE note.wallet_transaction_id IS NOT NULL AND ${rowIsIn(['note', 'credit_note_status'], CREDIT_NOTE, 'given')} AND ${rowIsOfEnvironment('note')}
  UNION ALL
  -- Of releases that wrote no notes for unused time.
  SELECT 'SUBSCRIPTION_CREDIT_GRANT', credit.wallet_transaction_id, credit.amount FROM line_credits AS credit
  WHERE ${rowIsOfEnvironment('credit')}`;

/**
 * Credits that have arrived in wallets and name what gave them. Of credits that invoices sell it
 * counts how often they arrived, since the wallet may not be the one that they were bought for.
 * Those that a refund had taken come back by the purchase that they name (docs/domain.md 17.6). One
 * that failed, since its wallet was closed before it was paid, has others in its place.
 */
const arrivals = sql.fragment`
  SELECT CASE WHEN sold.id IS NULL THEN credit.transaction_reason ELSE 'credits that a refund had taken' END AS reason,
    CASE WHEN sold.id IS NOT NULL THEN sold.id WHEN credit.transaction_reason = 'SUBSCRIPTION_CREDIT_GRANT' THEN credit.id
      ELSE credit.reference_id END AS source,
    max(credit.reference_id) AS named, min(credit.id) AS entity_id,
    sum(CASE WHEN sold.id IS NOT NULL THEN credit.amount
      WHEN credit.transaction_reason IN ('PURCHASED_CREDIT_INVOICED', 'PURCHASED_CREDIT_BONUS') THEN 1
      WHEN credit.transaction_reason = 'SUBSCRIPTION_CREDIT_GRANT' THEN credit.credit_amount ELSE credit.amount END) AS arrived
  FROM wallet_transactions AS credit
  LEFT JOIN wallet_transactions AS sold ON sold.id = credit.parent_transaction_id
    AND sold.transaction_reason = credit.transaction_reason AND sold.transaction_status = 'completed'
    AND ${rowIsOfEnvironment('sold')}
  WHERE credit.type = 'credit' AND credit.transaction_status = 'completed' AND credit.reference_id IS NOT NULL
    AND ${rowIsOfEnvironment('credit')}
  GROUP BY 1, 2`;

/** Credits in wallets that no document gives, or that came more often than it gives them. */
export async function findUnaccountedCredits({ tx }: ReadUnit) {
  const rows = await tx.any(sql.type(unaccountedRow)`
    SELECT arrival.entity_id, arrival.reason, arrival.named, coalesce(source.given, 0) AS given, arrival.arrived
    FROM (${arrivals}) AS arrival
    LEFT JOIN (SELECT each.reason, each.source, sum(each.given) AS given FROM (${sources}) AS each
      GROUP BY 1, 2) AS source USING (reason, source)
    WHERE arrival.arrived > coalesce(source.given, 0)
    ORDER BY arrival.entity_id LIMIT 1000`);
  return rows.map(({ entity_id, reason, named, given, arrived }) => ({
    entity_type: 'wallet_transaction',
    entity_id,
    problem: `${arrived} came by ${reason} of ${named}, which gives ${given}`,
  }));
}
