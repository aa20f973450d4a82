import { Body, Extension, Path, Post, Put, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import { contextOf } from '../../edge/request-context.js';
import { tagVersion } from '../../edge/versions.js';
import type { MessageDto } from '../../records/record-dto.js';
import { invoiceToDto } from '../../documents/answer/invoice-answer.js';
import type { InvoiceDto, ToldInvoiceDto } from '../../documents/answer/invoice-dto.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { attemptPayment } from '../../money/payments/attempt-payment.js';
import { recordByAmount, type RecordPaymentBody } from '../../money/payments/record-by-amount.js';
import type { BillingDependencies } from '../drafts/compute-tasks.js';
import { finalizeInvoice } from './finalize-invoice.js';
import { recomputeInvoice } from './recompute-invoice.js';
import { triggerCommunication } from './trigger-communication.js';
import { voidInvoice, type VoidInvoiceBody } from './void-invoice.js';

/** An invoice with a message that names it and what was done. */
const told = (invoice: InvoiceDto, done: string): ToldInvoiceDto => ({
  ...invoice,
  message: `invoice ${invoice.invoice_number ?? String(invoice.id)} ${done}`,
});

@Route('v1/invoices')
@Tags('Invoices')
export class InvoiceActionsController extends ApiController<BillingDependencies> {
  /**
   * Computes a draft once more and gives it its number; one that charges nothing is skipped. Of
   * several calls at once one finalizes, and the others answer with what it made.
   * @summary Finalize an invoice
   */
  @Post('{id}/finalize')
  @Extension('x-operation', { entity: 'invoice', access: 'write', versioned: true, rate: 'heavy' })
  public async finalizeInvoice(@Path() id: string): Promise<ToldInvoiceDto> {
    const { receivedMs } = contextOf(this.request);
    const call = { target: this.target(id), ageMs: () => performance.now() - receivedMs };
    const done = await this.run(finalizeInvoice, call);
    return told(this.#answer(done), 'was finalized');
  }

  /**
   * The invoice is no claim any more, and its period can be billed anew.
   * @summary Void an invoice
   */
  @Post('{id}/void')
  @Extension('x-operation', { entity: 'invoice', access: 'write', versioned: true })
  public async voidInvoice(
    @Path() id: string,
    @Body() body: VoidInvoiceBody,
  ): Promise<ToldInvoiceDto> {
    const done = await this.run(voidInvoice, this.changeOf(id, body));
    return told(this.#answer(done), 'was voided');
  }

  /**
   * Computes a draft or a skipped invoice again, in its place.
   * @summary Recompute an invoice
   */
  @Post('{id}/recompute')
  @Extension('x-operation', { entity: 'invoice', access: 'write', versioned: true, rate: 'heavy' })
  public async recomputeInvoice(@Path() id: string): Promise<InvoiceDto> {
    return this.#answer(await this.run(recomputeInvoice, id));
  }

  /**
   * Records money that has come in for a finalized invoice, or what became of its payment.
   * @summary Record a payment of an invoice
   */
  @Put('{id}/payment')
  @Extension('x-operation', { entity: 'invoice', access: 'write', versioned: true })
  public async recordPayment(
    @Path() id: string,
    @Body() body: RecordPaymentBody,
  ): Promise<InvoiceDto> {
    return this.#answer(await this.run(recordByAmount, this.changeOf(id, body)));
  }

  /**
   * Takes what is left to pay from the POST_PAID wallets of the customer.
   * @summary Try the payment of an invoice
   */
  @Post('{id}/payment/attempt')
  @Extension('x-operation', { entity: 'invoice', access: 'write', versioned: true })
  public async attemptPayment(@Path() id: string): Promise<ToldInvoiceDto> {
    const done = await this.run(attemptPayment, this.target(id));
    return told(this.#answer(done), 'was tried to be paid');
  }

  /**
   * Announces with an event that the invoice is to be sent to its customer.
   * @summary Send an invoice
   */
  @Post('{id}/comms/trigger')
  @Extension('x-operation', { entity: 'invoice', access: 'write' })
  public async triggerCommunication(@Path() id: string): Promise<MessageDto> {
    await this.run(triggerCommunication, id);
    return { message: 'the event invoice.communication.triggered was stored' };
  }

  #answer(document: InvoiceDocument): InvoiceDto {
    tagVersion(this, document.header.version);
    return invoiceToDto(document, null);
  }
}
