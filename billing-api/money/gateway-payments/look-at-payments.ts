import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, HOUR_MS } from '../../../contract/instant.js';
import { messageOf } from '../../../runtime/failure.js';
import type { Log } from '../../../runtime/log.js';
import { enqueue } from '../../../sql/jobs/enqueue.js';
import type { JobRun } from '../../../sql/jobs/job.js';
import type { ConnectionRow } from '../../declarations/exports/connection.resource.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../../records/conditions.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { mustRead, type ReadUnit } from '../../records/unit.js';
import { findGatewayConnection, openGateway } from '../gateways/open-gateway.js';
import {
  GatewayUnavailable,
  type ChargeOutcome,
  type PaymentGateway,
} from '../gateways/payment-gateway.js';
import { isGateway } from '../gateways/gateway-name.js';
import { TAKE_PAYMENT } from '../payments/gateway-work.js';
import { noteOutcome } from './note-outcome.js';
import { noteThere, type GatewayNeeds } from './pending-payment.js';

/** So long a gateway has to tell by itself what became of a payment. */
const SILENCE_MS = HOUR_MS;
const BATCH = 100;

/** A look at a gateway for what it has told and did not come. */
export type Look = Pick<JobRun, 'signal' | 'progressed'> & {
  readonly needs: GatewayNeeds;
  readonly occasion: Occasion<JobActor>;
  readonly connection: ConnectionRow;
  readonly gateway: PaymentGateway;
  readonly log: Log;
};

const silentRow = z.object({
  id: z.string(),
  gateway_payment_id: z.string().nullable(),
  gateway_page_id: z.string().nullable(),
});
type Silent = z.infer<typeof silentRow>;

/** Payments in process or with an open page of which nothing was heard for an hour. */
function findSilent({ tx, now }: ReadUnit, after: string): Promise<readonly Silent[]> {
  const since = formatInstant(now - SILENCE_MS);
  return tx.any(sql.type(silentRow)`
    SELECT id, gateway_payment_id, gateway_page_id FROM payments
    WHERE (payment_status = 'PROCESSING' OR payment_url IS NOT NULL) AND ${isGateway(['payment_gateway'])}
      AND updated_at <= ${since}::timestamptz AND id > ${after} AND ${isOfEnvironment}
    ORDER BY id LIMIT ${BATCH}`);
}

/** How a payment stands at the gateway; null when nothing is known of it there yet. */
function outcomeAt(gateway: PaymentGateway, payment: Silent): Promise<ChargeOutcome | null> {
  const { gateway_page_id: pageId, gateway_payment_id: chargeId } = payment;
  if (pageId !== null) return gateway.lookAtPage(pageId);
  return chargeId === null ? Promise.resolve(null) : gateway.look(chargeId);
}

type Asking = Pick<Look, 'needs' | 'occasion' | 'gateway'>;

/**
 * Asks the gateway for one payment, and notes what it says. A charge that was not carried out is
 * taken again; a page that nobody has paid by stays open.
 */
async function lookAt({ needs, occasion, gateway }: Asking, payment: Silent): Promise<void> {
  const { id: paymentId, gateway_page_id: pageId } = payment;
  const outcome = await outcomeAt(gateway, payment);
  await noteThere(needs, occasion, async (unit) => {
    if (outcome !== null) return noteOutcome(unit, paymentId, { outcome, refunded: null });
    if (pageId === null) await enqueue(unit, TAKE_PAYMENT, { input: { paymentId } });
    return null;
  });
}

/**
 * Asks the gateway for each payment of which nothing was heard for an hour (docs/domain.md 17.9).
 * One that it does not answer for is logged, and asked for again the next time.
 * @throws GatewayUnavailable when it answers nothing at all.
 */
export async function lookAtPayments(look: Look): Promise<void> {
  const { needs, occasion, log, signal } = look;
  for (let after = ''; ;) {
    const found = await mustRead(needs, occasion, (unit) => findSilent(unit, after));
    for (const payment of found) {
      signal.throwIfAborted();
      await lookAt(look, payment).catch((error: unknown) => {
        if (error instanceof GatewayUnavailable) throw error;
        log.warn({ id: payment.id, error: messageOf(error) }, 'a payment could not be looked at');
      });
    }
    await look.progressed();
    const last = found.at(-1);
    if (last === undefined || found.length < BATCH) return;
    after = last.id;
  }
}

/** The payments whose pages may be paid now, of the invoices of a subscription. */
function findPagesOf({ tx }: ReadUnit, subscriptionId: string): Promise<readonly Silent[]> {
  return tx.any(sql.type(silentRow)`
    SELECT payment.id, gateway_payment_id, gateway_page_id FROM payments AS payment
    JOIN invoices AS invoice ON invoice.id = payment.destination_id
      AND invoice.subscription_id = ${subscriptionId} AND ${rowIsOfEnvironment('invoice')}
    WHERE payment.destination_type = 'INVOICE' AND payment.payment_url IS NOT NULL
      AND ${rowIsOfEnvironment('payment')}
    ORDER BY payment.id`);
}

/**
 * Asks the gateway whether the invoices of a subscription were paid by their pages, and notes it.
 * @throws GatewayUnavailable when it is to be asked again.
 */
export async function lookAtPagesOf(
  needs: GatewayNeeds,
  occasion: Occasion<JobActor>,
  subscriptionId: string,
): Promise<void> {
  const found = await mustRead(needs, occasion, async (unit) => ({
    pages: await findPagesOf(unit, subscriptionId),
    connection: await findGatewayConnection(unit),
  }));
  if (found.pages.length === 0 || found.connection === null) return;
  const gateway = await openGateway(needs, found.connection);
  for (const page of found.pages) await lookAt({ needs, occasion, gateway }, page);
}
