import { sql } from 'slonik';
import { z } from 'zod';
import { PAYMENTS } from '../../declarations/money/payment.resource.js';
import { updateRecord } from '../../records/change-record.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { lockRecord } from '../../records/find-record.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { mustRead } from '../../records/unit.js';
import { openGateway } from '../gateways/open-gateway.js';
import {
  GatewayUnavailable,
  type ChargeOutcome,
  type PaymentGateway,
} from '../gateways/payment-gateway.js';
import { isGateway } from '../gateways/gateway-name.js';
import { noteOutcome } from './note-outcome.js';
import { findOpenPages } from '../payments/payment-pages.js';
import {
  chargeOf,
  findPending,
  isByPage,
  noteThere,
  type GatewayNeeds,
  type Pending,
} from './pending-payment.js';
import { closePages, servePage } from './serve-page.js';

/** Prepares a charge unless that was done, and stores its id before it can take any money. */
async function prepareOnce(
  needs: GatewayNeeds,
  occasion: Occasion<JobActor>,
  { gateway, pending }: { readonly gateway: PaymentGateway; readonly pending: Pending },
) {
  const { id, gateway_payment_id: known } = pending.payment;
  if (known !== null) return { status: 'prepared', id: known } as const;
  const prepared = await gateway.prepare(chargeOf(pending));
  if (prepared.status === 'failed') return prepared;
  await noteThere(needs, occasion, async (unit) => {
    const row = await lockRecord(unit, PAYMENTS, id);
    if (row?.payment_status !== 'PROCESSING') return null;
    const patch = { gateway_payment_id: prepared.id };
    return updateRecord(unit, PAYMENTS, { row, patch });
  });
  return prepared;
}

/**
 * Takes the money of a card or account. What the invoice could be paid by beside it, a page, is
 * closed first; where a payer was faster there, nothing is charged.
 * @returns null when that is noted.
 */
async function take(
  needs: GatewayNeeds,
  occasion: Occasion<JobActor>,
  pending: Pending,
): Promise<ChargeOutcome | null> {
  const { connection, payment } = pending;
  if (connection === null) return { status: 'failed', reason: 'the gateway was removed' };
  const gateway = await openGateway(needs, connection);
  const of = { invoiceId: payment.destination_id };
  const pages = await mustRead(needs, occasion, (unit) => findOpenPages(unit, of));
  const work = { needs, occasion, gateway };
  if (await closePages(work, pages, payment.id)) return null;
  const prepared = await prepareOnce(needs, occasion, { gateway, pending });
  if (prepared.status === 'failed') return prepared;
  return gateway.carryOut(chargeOf(pending), prepared.id);
}

/**
 * Takes the money of one payment by the gateway, or opens or closes its page, and notes what became
 * of it. It may be killed at any point and done again: the gateway carries a charge out at most
 * once (docs/domain.md 17.3).
 * @returns whether it is known by then what became of it.
 * @throws GatewayUnavailable when the gateway is to be asked again.
 */
export async function takeByGateway(
  needs: GatewayNeeds,
  occasion: Occasion<JobActor>,
  paymentId: string,
): Promise<boolean> {
  const pending = await mustRead(needs, occasion, (unit) => findPending(unit, paymentId));
  if (pending === null) return true;
  if (isByPage(pending.payment)) {
    await servePage(needs, occasion, pending);
    return true;
  }
  const outcome = await take(needs, occasion, pending);
  if (outcome === null) return true;
  await noteThere(needs, occasion, (unit) =>
    noteOutcome(unit, paymentId, { outcome, refunded: null }),
  );
  return outcome.status !== 'processing';
}

const idRow = z.object({ id: z.string() });

/**
 * Takes the money of every payment of an environment that waits for its gateway, where a clock must
 * not go on before that. What the gateway cannot say yet is left to the job of each payment.
 * @returns whether anything became of one.
 */
export async function takeWaiting(
  needs: GatewayNeeds,
  occasion: Occasion<JobActor>,
): Promise<boolean> {
  const waiting = await mustRead(needs, occasion, ({ tx }) =>
    tx.any(sql.type(idRow)`
      SELECT id FROM payments
      WHERE payment_status = 'PROCESSING' AND payment_method_type <> 'PAYMENT_LINK'
        AND ${isGateway(['payment_gateway'])} AND ${isOfEnvironment}
      ORDER BY created_at, id`),
  );
  let isAnyDone = false;
  for (const { id } of waiting) {
    try {
      isAnyDone = (await takeByGateway(needs, occasion, id)) || isAnyDone;
    } catch (error) {
      if (!(error instanceof GatewayUnavailable)) throw error;
    }
  }
  return isAnyDone;
}
