import { sql } from 'slonik';
import { z } from 'zod';
import { INTEGRATIONS } from '../../declarations/customers/integration.resource.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit, Unit } from '../../records/unit.js';
import { findGatewayConnection } from '../gateways/open-gateway.js';
import { isGateway } from '../gateways/gateway-name.js';

/* What the provider of the gateway calls customers and invoices of ours. */

/** A customer as the gateway of the environment calls them; null when it does not know them. */
export async function findPayerId(
  { tx }: StatementUnit,
  customerId: string,
): Promise<string | null> {
  const mapping = await tx.maybeOne(sql.type(INTEGRATIONS.row)`
    SELECT * FROM integration_mappings
    WHERE entity_type = 'customer' AND entity_id = ${customerId}
      AND provider_type = (SELECT provider_type FROM connections
        WHERE ${isGateway(['provider_type'])} AND status = 'published' AND ${isOfEnvironment})
      AND status = 'published' AND ${isOfEnvironment}`);
  return mapping?.provider_entity_id ?? null;
}

/** The gateway whose provider has an invoice for one of ours, which is paid there; or null. */
export async function findPayingProvider(
  { tx }: StatementUnit,
  invoiceId: string,
): Promise<string | null> {
  const mapping = await tx.maybeOne(sql.type(INTEGRATIONS.row)`
    SELECT * FROM integration_mappings
    WHERE entity_type = 'invoice' AND entity_id = ${invoiceId} AND ${isGateway(['provider_type'])}
      AND status = 'published' AND ${isOfEnvironment}
    LIMIT 1`);
  return mapping?.provider_type ?? null;
}

const methodRow = z.object({
  invoice_id: z.string(),
  payment_method_id: z.string().nullable(),
});

/**
 * With what invoices can be charged by the gateway of the environment, by their ids: the method of
 * their subscription, or null for the default of a customer that the gateway knows. Invoices that
 * it cannot charge, and those that were sent to it to be paid there, are left out.
 */
export async function findChargeable(
  unit: Unit,
  invoiceIds: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  const connection = invoiceIds.length === 0 ? null : await findGatewayConnection(unit);
  if (connection === null) return new Map();
  const rows = await unit.tx.any(sql.type(methodRow)`
    SELECT invoice.id AS invoice_id, subscription.gateway_payment_method_id AS payment_method_id
    FROM invoices AS invoice
    LEFT JOIN subscriptions AS subscription ON subscription.id = invoice.subscription_id
      AND ${rowIsOfEnvironment('subscription')}
    LEFT JOIN integration_mappings AS mapping ON mapping.entity_id = invoice.customer_id
      AND mapping.entity_type = 'customer' AND mapping.provider_type = ${connection.provider_type}
      AND mapping.status = 'published' AND ${rowIsOfEnvironment('mapping')}
    WHERE invoice.id = ANY (${sql.array([...invoiceIds], 'text')})
      AND (subscription.gateway_payment_method_id IS NOT NULL OR mapping.id IS NOT NULL)
      AND NOT EXISTS (SELECT FROM integration_mappings AS sent
        WHERE sent.entity_type = 'invoice' AND sent.entity_id = invoice.id
          AND ${isGateway(['sent', 'provider_type'])} AND sent.status = 'published'
          AND ${rowIsOfEnvironment('sent')})
      AND ${rowIsOfEnvironment('invoice')}`);
  return new Map(rows.map((row) => [row.invoice_id, row.payment_method_id]));
}
