import type { ConnectionRow } from '../../declarations/exports/connection.resource.js';
import type { UnlinkBody } from '../../declarations/customers/integration.resource.js';
import { INVOICES } from '../../declarations/invoices/invoice.resource.js';
import { findRecord } from '../../records/find-record.js';
import type { Occasion } from '../../records/occasion.js';
import { Refusal } from '../../records/refusal.js';
import { mustRead, type ReadUnit } from '../../records/unit.js';
import type { GatewayNeeds } from '../../money/gateway-payments/pending-payment.js';
import { findGatewayConnection, openInvoiceProvider } from '../../money/gateways/open-gateway.js';
import type { ProviderAnswer, ProviderInvoice } from '../../money/gateways/invoice-provider.js';
import { GatewayUnavailable } from '../../money/gateways/payment-gateway.js';
import { isGatewayName } from '../../money/gateways/gateway-name.js';
import { findLink } from './start-sync.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

const refusal = (problem: string): Refusal => new Refusal('invalid_operation', problem);

/** The connection to ask about a link of an invoice that is not paid here; null: nothing to ask. */
async function findAsked(
  unit: ReadUnit,
  { entity_id: id, provider_type: provider, provider_entity_id: theirs }: UnlinkBody,
): Promise<ConnectionRow | null> {
  const invoice = await findRecord(unit, INVOICES, id);
  const isUnpaid =
    invoice !== null &&
    isIn(INVOICE, 'claimed', invoice.invoice_status) &&
    !invoice.amount_remaining.isZero();
  const link = await findLink(unit, { type: 'invoice', id, provider });
  if (!isUnpaid || link?.provider_entity_id !== theirs) return null;
  const connection = await findGatewayConnection(unit);
  return connection?.provider_type === provider ? connection : null;
}

/** What stands in the way by what the provider answers. */
function problemOf(provider: string, told: ProviderAnswer<ProviderInvoice>): Refusal | null {
  if (told.status === 'unknown') return null;
  if (told.status !== 'done') return refusal(`${provider} does not tell: ${told.reason}`);
  const { status } = told.value;
  if (status === 'void') return null;
  const problem = `the invoice is not paid here, and is ${status} at ${provider}`;
  return refusal(`${problem}; pull what is paid there, or void it there, before it is unlinked`);
}

/**
 * Why the link of an invoice must stay: it is not paid here and could be paid at the provider,
 * while without the link it would be charged here as well. Null when the link may go.
 */
export async function payableThere(
  needs: GatewayNeeds,
  occasion: Occasion,
  body: UnlinkBody,
): Promise<Refusal | null> {
  if (body.entity_type !== 'invoice' || !isGatewayName(body.provider_type)) return null;
  const connection = await mustRead(needs, occasion, (unit) => findAsked(unit, body));
  if (connection === null) return null;
  try {
    const invoices = await openInvoiceProvider(needs, connection);
    return problemOf(body.provider_type, await invoices.read(body.provider_entity_id));
  } catch (error) {
    if (!(error instanceof GatewayUnavailable)) throw error;
    return new Refusal('service_unavailable', `${error.message}; the link stays`);
  }
}
