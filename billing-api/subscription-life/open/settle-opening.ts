import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { readRecord } from '../../records/find-record.js';
import type { Unit } from '../../records/unit.js';
import { activateIncomplete } from '../../subscriptions/activate-incomplete.js';
import type { StoredInvoice } from '../../invoicing/drafts/draft-invoices.js';
import { useReservation, type Reservation } from './reserve-first.js';

/** An opening invoice, and the money that a gateway has reserved for it. */
type Opened = {
  readonly opening: StoredInvoice | null;
  readonly reservation: Reservation | null;
};

/**
 * A new subscription after its opening invoice: one that waits for its payment is active where
 * there is nothing to pay, or it is paid already (docs/domain.md 5.1).
 */
export async function settleOpening(
  unit: Unit,
  opened: SubscriptionRow,
  { opening, reservation }: Opened,
): Promise<SubscriptionRow> {
  const { id, subscription_status: begun } = opened;
  if (begun !== 'incomplete') return opened;
  const isFree = opening === null || isIn(INVOICE, 'free', opening.row.invoice_status);
  const row = isFree
    ? await activateIncomplete(unit, id)
    : await readRecord(unit, SUBSCRIPTIONS, id);
  if (opening === null) return row;
  const isPaidFirst =
    row.subscription_status === 'incomplete' && row.payment_behavior === 'error_if_incomplete';
  if (!isPaidFirst) return row;
  await useReservation(unit, opening.row, reservation);
  return activateIncomplete(unit, id);
}
