import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { ZERO } from '../../../contract/number/decimal.js';
import { DAY_MS } from '../../../contract/instant.js';
import { INTEGRATIONS } from '../../declarations/customers/integration.resource.js';
import { CONNECTIONS, type ConnectionRow } from '../../declarations/exports/connection.resource.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import {
  newlyPaidThere,
  paidWithoutProvider,
  type AmountsHere,
  type Pulled,
} from '../../domain/payment/provider-amounts.js';
import { providerLines } from '../../domain/payment/provider-lines.js';
import { closeWorkflow, failedBy } from '../../platform/workflows/close-workflow.js';
import { updateRecord } from '../../records/change-record.js';
import { isEqual } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { findPublished, lockRecord } from '../../records/find-record.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { isRefusal, notFound, Refusal, Refused } from '../../records/refusal.js';
import {
  mustRead,
  mustWrite,
  readUnit,
  type ReadUnit,
  type Unit,
  writeUnit,
} from '../../records/unit.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import type {
  InvoiceProvider,
  ProviderAnswer,
  ProviderInvoice,
  ProviderState,
  SentInvoice,
} from '../../money/gateways/invoice-provider.js';
import { openInvoiceProvider } from '../../money/gateways/open-gateway.js';
import { isBeingCharged } from '../../money/payments/begin-charge.js';
import { findOpenPages } from '../../money/payments/payment-pages.js';
import type { GatewayNeeds } from '../../money/gateway-payments/pending-payment.js';
import { lockFinalized } from '../../money/payments/settle-invoice.js';
import { newPayment, storePayment, succeed } from '../../money/payments/take-payment.js';
import { findPulled } from './find-pulled.js';
import { readDocument } from '../../documents/store/read-documents.js';
import { findLink, syncProblem, type SyncInput } from './start-sync.js';

/** What a sync works on, as it stands when it begins. */
type Synced = {
  readonly invoice: InvoiceRow;
  readonly document: InvoiceDocument;
  readonly connection: ConnectionRow;
  readonly payerId: string | null;
  /** The invoice as the provider calls it; null when it was never sent. */
  readonly providerId: string | null;
  /** What was recorded of what is paid there. */
  readonly pulled: readonly Pulled[];
};

type Work = {
  readonly needs: GatewayNeeds;
  readonly occasion: Occasion<JobActor>;
  readonly input: SyncInput;
  readonly synced: Synced;
  readonly provider: InvoiceProvider;
};

async function findSynced(unit: ReadUnit, input: SyncInput): Promise<Synced> {
  const { invoiceId, connectionId, method } = input;
  const [invoice] = await findPublished(unit, INVOICES, isEqual('id', invoiceId));
  if (invoice === undefined) throw new Refused(notFound(INVOICES.name, invoiceId));
  const [connection] = await findPublished(unit, CONNECTIONS, isEqual('id', connectionId));
  if (connection === undefined) throw new Refused(notFound(CONNECTIONS.name, connectionId));
  const problem = await syncProblem(unit, { invoice, connection }, method);
  if (problem !== null) throw new Refused(new Refusal('invalid_operation', problem));
  const document = await readDocument(unit, invoiceId);
  const { provider_type: provider } = connection;
  const payer = await findLink(unit, { type: 'customer', id: invoice.customer_id, provider });
  const link = await findLink(unit, { type: 'invoice', id: invoiceId, provider });
  return {
    invoice,
    document,
    connection,
    payerId: payer?.provider_entity_id ?? null,
    providerId: link?.provider_entity_id ?? null,
    pulled: await findPulled(unit, invoiceId),
  };
}

function daysUntilDue({ due_date: due, finalized_at: finalized }: InvoiceRow): number {
  if (due === null || finalized === null) return 0;
  return Math.max(0, Math.ceil((due - finalized) / DAY_MS));
}

const amountsOf = (invoice: InvoiceRow, pulled: readonly Pulled[]): AmountsHere => ({
  total: invoice.total,
  adjusted: invoice.adjustment_amount,
  paid: invoice.amount_paid,
  pulled,
});

function sentOf(
  { invoice, document, pulled }: Synced,
  payerId: string,
  linesMax: number,
): SentInvoice {
  const lines = document.lines.map((line) => ({
    description: line.display_name,
    amount: line.amount,
  }));
  const amounts = amountsOf(invoice, pulled);
  const isPaid = invoice.amount_remaining.isZero();
  // One of which nothing is left is sent whole, and then told to be paid.
  const paidAlready = isPaid ? ZERO : paidWithoutProvider(amounts);
  return {
    invoiceId: invoice.id,
    invoiceNumber: invoice.invoice_number,
    payerId,
    currency: invoice.currency,
    daysUntilDue: daysUntilDue(invoice),
    amounts,
    isPaid,
    asked: invoice.total.minus(paidAlready),
    lines: providerLines(
      {
        lines,
        total: invoice.total,
        totalDiscount: invoice.total_discount,
        paidAlready,
        creditsApplied: invoice.total_prepaid_credits_applied,
        totalTax: invoice.total_tax,
      },
      linesMax,
    ),
  };
}

/** What the provider did, or its refusal as one of ours. */
function valueOf<T>(answer: ProviderAnswer<T>): T | Refusal {
  if (answer.status === 'done') return answer.value;
  return new Refusal('invalid_operation', `the provider refuses: ${answer.reason}`);
}

/** The provider's invoice for ours: the one that is linked, or a new draft, linked at once. */
async function beginOnce(work: Work, sent: SentInvoice): Promise<string | Refusal> {
  const { needs, occasion, provider, synced } = work;
  if (synced.providerId !== null) return synced.providerId;
  const id = valueOf(await provider.begin(sent));
  if (isRefusal(id)) return id;
  const stored = await writeUnit(needs, occasion, async (unit) => {
    // From here on no charge of the invoice begins, which is locked by those that do.
    await lockRecord(unit, INVOICES, synced.invoice.id);
    return createRecord(unit, INTEGRATIONS, {
      entity_type: 'invoice',
      entity_id: synced.invoice.id,
      metadata: {},
      provider_type: synced.connection.provider_type,
      provider_entity_id: id,
    });
  });
  return isRefusal(stored) ? stored : id;
}

async function cancelThere(work: Work, id: string): Promise<ProviderState | Refusal> {
  return valueOf(await work.provider.cancel(id));
}

const TAKEN_HERE =
  'a payment of the invoice is in process, or its page is open; push it again when that has ended';

/** Whether an invoice is being paid here, so that it must not be open to be paid there. */
async function isBeingTaken(unit: ReadUnit, invoiceId: string): Promise<boolean> {
  if (await isBeingCharged(unit, { invoiceId })) return true;
  return (await findOpenPages(unit, { invoiceId })).length > 0;
}

async function push(work: Work): Promise<ProviderState | Refusal> {
  const { provider, synced, input } = work;
  const { payerId, providerId, invoice } = synced;
  if (isIn(INVOICE, 'voided', invoice.invoice_status) && providerId !== null) {
    return cancelThere(work, providerId);
  }
  if (payerId === null) return notFound('customer of the provider', invoice.customer_id);
  const sent = sentOf(synced, payerId, provider.linesMax);
  const id = await beginOnce(work, sent);
  if (isRefusal(id)) return id;
  const { needs, occasion } = work;
  const isTaken = await mustRead(needs, occasion, (unit) => isBeingTaken(unit, invoice.id));
  if (isTaken) return new Refusal('invalid_operation', TAKEN_HERE);
  return valueOf(await provider.complete(sent, { id, run: input.workflowId }));
}

async function pull({ provider, synced }: Work): Promise<ProviderInvoice | Refusal> {
  const { providerId, invoice } = synced;
  if (providerId === null) return notFound('invoice of the provider', invoice.id);
  const told = valueOf(await provider.read(providerId));
  if (isRefusal(told) || told.currency.toLowerCase() === invoice.currency) return told;
  const problem = `the provider's invoice is in ${told.currency}, not ${invoice.currency}`;
  return new Refusal('invalid_operation', problem);
}

/** Records what the provider has received since the last pull as a payment of its own. */
async function recordPulled(
  unit: Unit,
  { invoice, gateway }: { readonly invoice: InvoiceRow; readonly gateway: string },
  { id, amounts: there }: ProviderInvoice,
): Promise<void> {
  const here = amountsOf(invoice, await findPulled(unit, invoice.id));
  const amount = newlyPaidThere(here, there);
  if (!amount.greaterThan(ZERO)) return;
  const given = { payment_gateway: gateway, gateway_payment_id: id, amount };
  const values = newPayment(invoice, { payment_method_type: 'OFFLINE', ...given });
  const payment = await storePayment(unit, values);
  await succeed(unit, { payment, invoice });
}

/** Takes over what the provider says of a payment: what is paid is never lowered. */
async function takeOver(
  unit: Unit,
  { input: { invoiceId: id }, synced: { connection } }: Work,
  told: ProviderInvoice,
): Promise<void> {
  const invoice = await lockFinalized(unit, id);
  await recordPulled(unit, { invoice, gateway: connection.provider_type }, told);
  const current = await lockFinalized(unit, id);
  const { pdfUrl } = told;
  if (pdfUrl === null || pdfUrl === current.invoice_pdf_url) return;
  const patch = { invoice_pdf_url: pdfUrl };
  await updateRecord(unit, INVOICES, { row: current, patch });
}

/** Ends the workflow with how the invoice stands at the provider. */
function close(
  unit: Unit,
  { invoiceId, method, workflowId }: SyncInput,
  { id, status }: ProviderState,
): Promise<void> {
  const result = {
    invoice_id: invoiceId,
    method,
    provider_invoice_id: id,
    provider_status: status,
  };
  return closeWorkflow(unit, workflowId, { workflow_status: 'Completed', result });
}

/** Does what is asked for at the provider, and says what is to be written of it here. */
async function ask(work: Work): Promise<((unit: Unit) => Promise<void>) | Refusal> {
  const { input } = work;
  if (input.method === 'push') {
    const state = await push(work);
    return isRefusal(state) ? state : (unit) => close(unit, input, state);
  }
  const told = await pull(work);
  if (isRefusal(told)) return told;
  return async (unit) => {
    await takeOver(unit, work, told);
    await close(unit, input, told);
  };
}

async function carryOut(
  needs: GatewayNeeds,
  occasion: Occasion<JobActor>,
  input: SyncInput,
): Promise<void | Refusal> {
  const synced = await readUnit(needs, occasion, (unit) => findSynced(unit, input));
  if (isRefusal(synced)) return synced;
  const provider = await openInvoiceProvider(needs, synced.connection);
  const note = await ask({ needs, occasion, input, synced, provider });
  return isRefusal(note) ? note : writeUnit(needs, occasion, note);
}

/**
 * Carries out the sync of one invoice, and ends its workflow. It may be killed at any point and
 * done again: the provider's invoice is made once, and what was done there is not done twice
 * (docs/domain.md 17.6).
 * @throws GatewayUnavailable when the provider is to be asked again.
 */
export async function syncInvoice(
  needs: GatewayNeeds,
  occasion: Occasion<JobActor>,
  input: SyncInput,
): Promise<void> {
  const refused = await carryOut(needs, occasion, input);
  if (!isRefusal(refused)) return;
  await mustWrite(needs, occasion, (unit) =>
    closeWorkflow(unit, input.workflowId, failedBy(refused)),
  );
}
