import { sql } from 'slonik';
import { formatInstant } from '../../../contract/instant.js';
import { noRows } from '../../../sql/columns.js';
import { CONNECTIONS, type ConnectionRow } from '../../declarations/exports/connection.resource.js';
import { PAYMENTS, type PaymentRow } from '../../declarations/money/payment.resource.js';
import { findRecord } from '../../records/find-record.js';
import { notFound, Refusal } from '../../records/refusal.js';
import { mustRead, type Unit, writeUnit } from '../../records/unit.js';
import {
  findGatewayConnection,
  findGatewayEnvironment,
  openGateway,
} from '../gateways/open-gateway.js';
import { gatewayOf } from '../gateways/gateways.js';
import { UnsignedSignal, type GatewaySignal } from '../gateways/payment-gateway.js';
import { noteOutcome } from './note-outcome.js';
import { findPaymentAtGateway } from '../payments/payment-pages.js';
import type { GatewayNeeds } from './pending-payment.js';

/** A signal as it came. */
export type RawSignal = {
  readonly connectionId: string;
  readonly body: Buffer;
  /** The text of a header; empty where the request has none. */
  readonly headerOf: (name: string) => string;
  readonly requestId: string;
};

/** What was done with a signal. */
export type SignalEffect = 'applied' | 'repeated' | 'ignored';

/** Notes a signal of a payment; false when it was noted before. */
async function isFirst(
  { tx, environment: { tenantId, environmentId }, now }: Unit,
  { connectionId, signal, paymentId }: SignalOfPayment,
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.type(noRows)`
    INSERT INTO gateway_signals (tenant_id, environment_id, connection_id, signal_id, signal_type,
      payment_id, received_at)
    VALUES (${tenantId}, ${environmentId}, ${connectionId}, ${signal.id}, ${signal.type},
      ${paymentId}, ${formatInstant(now)}::timestamptz)
    ON CONFLICT DO NOTHING`);
  return rowCount === 1;
}

type SignalOfPayment = {
  readonly connectionId: string;
  readonly signal: GatewaySignal;
  readonly paymentId: string;
};

/** The payment of ours that a signal is about; null when it is about none. */
async function findPaymentOf(
  unit: Unit,
  { provider_type: gateway }: ConnectionRow,
  { chargeId, paymentId, outcome }: GatewaySignal,
): Promise<PaymentRow | null> {
  const known = await findPaymentAtGateway(unit, gateway, chargeId);
  // The charge that a page has led to is not known before the page is done, and is of that payment
  // once it has succeeded: on the page, a payer may try several cards before.
  if (known !== null || paymentId === undefined || outcome.status !== 'succeeded') return known;
  const named = await findRecord(unit, PAYMENTS, paymentId);
  const isItsFirst = named?.payment_gateway === gateway && named.gateway_payment_id === null;
  return isItsFirst ? named : null;
}

/** Notes a signal, unless that was done before. */
export async function applySignal(
  unit: Unit,
  { connection, signal }: { readonly connection: ConnectionRow; readonly signal: GatewaySignal },
): Promise<SignalEffect> {
  const payment = await findPaymentOf(unit, connection, signal);
  // The account has charges of others too.
  if (payment === null) return 'ignored';
  const told = { connectionId: connection.id, signal, paymentId: payment.id };
  if (!(await isFirst(unit, told))) return 'repeated';
  await noteOutcome(unit, payment.id, signal);
  return 'applied';
}

/**
 * POST /connections/{id}/signals: what a gateway tells of a payment. Only a body with the signature
 * of the gateway counts, and each signal once (docs/domain.md 17.6).
 */
export async function takeSignal(
  needs: GatewayNeeds,
  { connectionId, body, headerOf, requestId }: RawSignal,
): Promise<SignalEffect | Refusal> {
  const unknown = notFound(CONNECTIONS.name, connectionId);
  const environment = await findGatewayEnvironment(needs.database, connectionId);
  if (environment === null) return unknown;
  const connection = await mustRead(needs, { environment }, findGatewayConnection);
  if (connection?.id !== connectionId) return unknown;
  try {
    const gateway = await openGateway(needs, connection);
    const { signatureHeader } = gatewayOf(connection.provider_type);
    const signal = await gateway.readSignal(body, headerOf(signatureHeader));
    if (signal === null) return 'ignored';
    const actor = { kind: 'job', job: 'gateway-signal', runId: requestId } as const;
    return await writeUnit(needs, { environment, actor }, (unit) =>
      applySignal(unit, { connection, signal }),
    );
  } catch (error) {
    if (error instanceof UnsignedSignal) return new Refusal('permission_denied', error.message);
    throw error;
  }
}
