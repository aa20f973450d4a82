import { sql } from 'slonik';
import { enqueue } from '../../../sql/jobs/enqueue.js';
import {
  INTEGRATIONS,
  type IntegrationRow,
} from '../../declarations/customers/integration.resource.js';
import {
  CONNECTIONS,
  type ConnectionRow,
  type SyncDirection,
} from '../../declarations/exports/connection.resource.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { WORKFLOWS, type WorkflowRow } from '../../declarations/platform/workflow.resource.js';
import { beginWorkflow } from '../../platform/workflows/begin-workflow.js';
import { isEqual, isOfEnvironment, rowIsIn } from '../../records/conditions.js';
import { findPublished, lockRecord } from '../../records/find-record.js';
import { notFound, Refusal, Refused } from '../../records/refusal.js';
import { writeOperation } from '../../records/operation.js';
import type { ReadUnit, Unit } from '../../records/unit.js';
import { findGatewayConnection } from '../../money/gateways/open-gateway.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

/** Which way an invoice is synced, and with whom. */
export type SyncRequest = {
  readonly invoiceId: string;
  readonly connectionId: string;
  readonly method: SyncDirection;
};

/** What the job needs to know of a sync. */
export type SyncInput = SyncRequest & { readonly workflowId: string };

/** As the job is queued; it is declared with the other jobs. One invoice is synced at a time. */
export const SYNC_INVOICE = {
  name: 'sync-invoice',
  keyOf: ({ invoiceId }: SyncInput): string => invoiceId,
  onceWhileWaiting: false,
};

/** The entity of a provider to which a record is linked; null when there is none. */
export async function findLink(
  unit: ReadUnit,
  of: { readonly type: 'customer' | 'invoice'; readonly id: string; readonly provider: string },
): Promise<IntegrationRow | null> {
  const [link = null] = await findPublished(unit, INTEGRATIONS, [
    ...isEqual('entity_type', of.type),
    ...isEqual('entity_id', of.id),
    ...isEqual('provider_type', of.provider),
  ]);
  return link;
}

/** Why an invoice cannot be sent; null when it can. */
async function pushProblem(
  unit: ReadUnit,
  invoice: InvoiceRow,
  provider: string,
): Promise<string | null> {
  const { invoice_status: status, customer_id: customerId } = invoice;
  if (isIn(INVOICE, 'voided', status)) {
    const link = await findLink(unit, { type: 'invoice', id: invoice.id, provider });
    return link === null ? 'the invoice is VOIDED and was never sent' : null;
  }
  if (!isIn(INVOICE, 'claimed', status))
    return `the invoice is ${status}; finalize it before it is sent`;
  if (invoice.total.isNegative()) return 'the invoice gives money back; it cannot be sent';
  const payer = await findLink(unit, { type: 'customer', id: customerId, provider });
  if (payer !== null) return null;
  return `the customer ${customerId} is not linked to one of ${provider}; link it with POST /integrations/link`;
}

async function pullProblem(
  unit: ReadUnit,
  invoice: InvoiceRow,
  provider: string,
): Promise<string | null> {
  const { invoice_status: status } = invoice;
  if (!isIn(INVOICE, 'claimed', status))
    return `the invoice is ${status}; only a FINALIZED one is paid`;
  const link = await findLink(unit, { type: 'invoice', id: invoice.id, provider });
  if (link !== null) return null;
  return `the invoice is not linked to one of ${provider}; push it, or link it with POST /integrations/link`;
}

/** Why an invoice is not synced this way; null when it can be (docs/domain.md 17.6). */
export async function syncProblem(
  unit: ReadUnit,
  { invoice, connection }: { readonly invoice: InvoiceRow; readonly connection: ConnectionRow },
  method: SyncDirection,
): Promise<string | null> {
  const { provider_type: provider, sync_config: config } = connection;
  if (config?.direction.includes(method) !== true) {
    return `the connection is not configured to ${method}: name it in sync_config.direction`;
  }
  const problemOf = method === 'push' ? pushProblem : pullProblem;
  return problemOf(unit, invoice, provider);
}

const typeOf = (method: SyncDirection): string => `invoice_${method}`;

/** The workflow that syncs the invoice this way already. */
function findRunning(
  { tx }: Unit,
  { invoiceId, method }: SyncRequest,
): Promise<WorkflowRow | null> {
  return tx.maybeOne(sql.type(WORKFLOWS.row)`
    SELECT * FROM workflows
    WHERE workflow_type = ${typeOf(method)} AND entity_id = ${invoiceId}
      AND workflow_status = 'Running' AND ${isOfEnvironment}`);
}

/** Queues the sync of a locked invoice; asked for again while it runs, it stays the same one. */
async function begin(unit: Unit, request: SyncRequest): Promise<WorkflowRow> {
  const { invoiceId, method } = request;
  const running = await findRunning(unit, request);
  const workflow =
    running ??
    (await beginWorkflow(unit, { type: typeOf(method), entity: 'invoice', id: invoiceId }));
  // Also of one that runs: its job may have given up.
  await enqueue(unit, SYNC_INVOICE, { input: { ...request, workflowId: workflow.id } });
  return workflow;
}

/** POST /integrations/invoices/{invoice_id}/sync: begins to send an invoice or to ask for it. */
export const startSync = writeOperation(
  async (unit, request: SyncRequest): Promise<WorkflowRow> => {
    const { invoiceId, connectionId, method } = request;
    const invoice = await lockRecord(unit, INVOICES, invoiceId);
    if (invoice === null) throw new Refused(notFound(INVOICES.name, invoiceId));
    const [connection] = await findPublished(unit, CONNECTIONS, isEqual('id', connectionId));
    if (connection === undefined) throw new Refused(notFound(CONNECTIONS.name, connectionId));
    const problem = await syncProblem(unit, { invoice, connection }, method);
    if (problem !== null) throw new Refused(new Refusal('invalid_operation', problem));
    return begin(unit, request);
  },
);

/**
 * Syncs the invoices of a subscription again that wait for their payment and are at the provider:
 * their payment is taken over where that is configured, else they are sent again.
 */
export async function syncPending(unit: Unit, subscriptionId: string): Promise<void> {
  const connection = await findGatewayConnection(unit);
  if (connection === null) return;
  const pending = await unit.tx.any(sql.type(INVOICES.row)`
    SELECT * FROM invoices
    WHERE subscription_id = ${subscriptionId} AND ${rowIsIn(['invoice_status'], INVOICE, 'claimed')}
      AND payment_status IN ('PENDING', 'PROCESSING', 'FAILED') AND ${isOfEnvironment}
    ORDER BY id FOR UPDATE`);
  for (const invoice of pending) {
    const of = { invoiceId: invoice.id, connectionId: connection.id };
    for (const method of ['pull', 'push'] as const) {
      const problem = await syncProblem(unit, { invoice, connection }, method);
      if (problem !== null) continue;
      await begin(unit, { ...of, method });
      break;
    }
  }
}
