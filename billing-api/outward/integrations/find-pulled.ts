import { sql } from 'slonik';
import { PAYMENTS } from '../../declarations/money/payment.resource.js';
import type { Pulled } from '../../domain/payment/provider-amounts.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit } from '../../records/unit.js';
import { isGateway } from '../../money/gateways/gateway-name.js';
import { SYNC_INVOICE } from './start-sync.js';

/** Who has recorded them; releases before 0.3 gave them no id of the invoice there. */
const RECORDED_BY = `job:${SYNC_INVOICE.name}`;

/**
 * The payments that pulls have recorded of an invoice: no other one that is OFFLINE has the id of
 * something at the gateway, the invoice there.
 */
export async function findPulled(
  { tx }: StatementUnit,
  invoiceId: string,
): Promise<readonly Pulled[]> {
  const rows = await tx.any(sql.type(PAYMENTS.row)`
    SELECT * FROM payments
    WHERE destination_id = ${invoiceId} AND payment_method_type = 'OFFLINE'
      AND (${isGateway(['payment_gateway'])} AND gateway_payment_id IS NOT NULL
        OR created_by = ${RECORDED_BY})
      AND ${isOfEnvironment}`);
  return rows.map((row) => ({ amount: row.amount, isVoided: row.payment_status === 'VOIDED' }));
}
