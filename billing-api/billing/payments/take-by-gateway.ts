import { sql } from 'slonik';
import { z } from 'zod';
import { INTEGRATIONS } from '../../declarations/customers/integration.resource.js';
import type { ConnectionRow } from '../../declarations/exports/connection.resource.js';
import { PAYMENTS, type PaymentRow } from '../../declarations/money/payment.resource.js';
import { updateRecord } from '../../records/change-record.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { findRecord, lockRecord } from '../../records/find-record.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { readUnit, writeUnit, type ReadUnit, type WriteDependencies } from '../../records/unit.js';
import {
  findGatewayConnection,
  openGateway,
  type GatewayAccess,
} from '../gateways/open-gateway.js';
import {
  GatewayUnavailable,
  type Charge,
  type ChargeOutcome,
  type PaymentGateway,
} from '../gateways/payment-gateway.js';
import { GATEWAY } from './begin-charge.js';
import { noteOutcome } from './note-outcome.js';

/** What taking payments by a gateway needs. */
export type GatewayNeeds = WriteDependencies & GatewayAccess;

type Pending = {
  readonly payment: PaymentRow;
  readonly connection: ConnectionRow | null;
  readonly payerId: string | null;
};

/** A customer as the gateway calls them; null when it does not know them. */
export async function findPayerId({ tx }: ReadUnit, customerId: string): Promise<string | null> {
  const mapping = await tx.maybeOne(sql.type(INTEGRATIONS.row)`
    SELECT * FROM integration_mappings
    WHERE entity_type = 'customer' AND entity_id = ${customerId}
      AND provider_type = ${GATEWAY} AND status = 'published' AND ${isOfEnvironment}`);
  return mapping?.provider_entity_id ?? null;
}

/** A payment whose money is to be taken; null when its outcome is known. */
async function findPending(unit: ReadUnit, paymentId: string): Promise<Pending | null> {
  const payment = await findRecord(unit, PAYMENTS, paymentId);
  if (payment?.payment_status !== 'PROCESSING') return null;
  const connection = await findGatewayConnection(unit);
  return { payment, connection, payerId: await findPayerId(unit, payment.customer_id) };
}

function chargeOf({ payment, payerId }: Pending): Charge {
  const invoiceId = payment.destination_type === 'INVOICE' ? payment.destination_id : null;
  return {
    ...{ paymentId: payment.id, invoiceId, payerId },
    ...{ invoiceNumber: payment.invoice_number, amount: payment.amount },
    ...{ currency: payment.currency, methodId: payment.payment_method_id },
  };
}

async function orThrow<T>(result: Promise<T | Refusal>): Promise<T> {
  const value = await result;
  if (isRefusal(value)) throw new Error(value.message);
  return value;
}

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
  await orThrow(
    writeUnit(needs, occasion, async (unit) => {
      const row = await lockRecord(unit, PAYMENTS, id);
      if (row?.payment_status !== 'PROCESSING') return null;
      const patch = { gateway_payment_id: prepared.id };
      return updateRecord(unit, PAYMENTS, { row, patch });
    }),
  );
  return prepared;
}

async function take(
  needs: GatewayNeeds,
  occasion: Occasion<JobActor>,
  pending: Pending,
): Promise<ChargeOutcome> {
  const { connection } = pending;
  if (connection === null) return { status: 'failed', reason: 'the gateway was removed' };
  const gateway = await openGateway(needs, connection);
  const prepared = await prepareOnce(needs, occasion, { gateway, pending });
  if (prepared.status === 'failed') return prepared;
  return gateway.carryOut(chargeOf(pending), prepared.id);
}

/**
 * Takes the money of one payment by the gateway, and notes what became of it. It may be killed at
 * any point and done again: the gateway carries a charge out at most once (docs/domain.md 17.3).
 * @returns whether it is known by then what became of it.
 * @throws GatewayUnavailable when the gateway is to be asked again.
 */
export async function takeByGateway(
  needs: GatewayNeeds,
  occasion: Occasion<JobActor>,
  paymentId: string,
): Promise<boolean> {
  const pending = await readUnit(needs, occasion, (unit) => findPending(unit, paymentId));
  if (pending === null) return true;
  const outcome = await take(needs, occasion, pending);
  await orThrow(
    writeUnit(needs, occasion, (unit) => noteOutcome(unit, paymentId, { outcome, refunded: null })),
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
  const waiting = await readUnit(needs, occasion, ({ tx }) =>
    tx.any(sql.type(idRow)`
      SELECT id FROM payments
      WHERE payment_status = 'PROCESSING' AND payment_gateway = ${GATEWAY} AND ${isOfEnvironment}
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
