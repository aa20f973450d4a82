import { sql } from 'slonik';
import { z } from 'zod';
import { messageOf } from '../../../runtime/failure.js';
import type { ConnectionRow } from '../../declarations/exports/connection.resource.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { Occasion } from '../../records/occasion.js';
import { invalid, Refusal } from '../../records/refusal.js';
import { mustRead, type StatementUnit, type WriteDependencies } from '../../records/unit.js';
import {
  openGatewayWith,
  secretsOf,
  type GatewayAccess,
} from '../../money/gateways/open-gateway.js';
import { GatewayUnavailable } from '../../money/gateways/payment-gateway.js';

const inProcessRow = z.object({
  gateway_payment_id: z.string().nullable(),
  gateway_page_id: z.string().nullable(),
});
type InProcess = z.infer<typeof inProcessRow>;

/** A payment that a gateway may still take money for, one that it knows first; null for none. */
function findInProcess(
  { tx }: StatementUnit,
  { provider_type: gateway }: ConnectionRow,
): Promise<InProcess | null> {
  return tx.maybeOne(sql.type(inProcessRow)`
    SELECT gateway_payment_id, gateway_page_id FROM payments
    WHERE (payment_status = 'PROCESSING' OR payment_url IS NOT NULL)
      AND payment_gateway = ${gateway} AND ${isOfEnvironment}
    ORDER BY gateway_page_id IS NULL AND gateway_payment_id IS NULL, id LIMIT 1`);
}

const WAIT = 'wait until the payments in process have ended, or give a key of the same account';
const refused = (problem: string): Refusal =>
  invalid({ 'secrets.secret_key': `${problem}; ${WAIT}` });

/** Whether the account of a new key knows a payment in process; why not otherwise. */
async function askWith(
  access: GatewayAccess,
  { connection, key }: { readonly connection: ConnectionRow; readonly key: string },
  { gateway_page_id: pageId, gateway_payment_id: chargeId }: InProcess,
): Promise<Refusal | null> {
  if (pageId === null && chargeId === null) return refused('a payment is about to be taken');
  const gateway = await openGatewayWith(access, connection, key);
  try {
    if (pageId !== null) await gateway.lookAtPage(pageId);
    else if (chargeId !== null) await gateway.look(chargeId);
    return null;
  } catch (error) {
    if (error instanceof GatewayUnavailable) {
      return new Refusal('service_unavailable', `${error.message}; nothing was changed`);
    }
    return refused(`its account does not know a payment in process (${messageOf(error)})`);
  }
}

/**
 * Why a connection may not have another key of its gateway: charges and pages of one account are
 * unknown to another, so that they would count as failed, and be charged again there. Null when it
 * may: nothing is in process, or the account of the new key knows what is.
 */
export async function otherAccountRefusal(
  access: GatewayAccess & WriteDependencies,
  occasion: Occasion,
  change: { readonly connection: ConnectionRow; readonly key: string },
): Promise<Refusal | null> {
  const { connection, key } = change;
  if (connection.provider_type === 's3') return null;
  if ((await secretsOf(access, connection)).secret_key === key) return null;
  const found = await mustRead(access, occasion, (unit) => findInProcess(unit, connection));
  return found === null ? null : askWith(access, change, found);
}
