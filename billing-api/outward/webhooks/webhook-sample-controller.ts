import { Extension, Post, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import type { InvoiceDto } from '../../documents/answer/invoice-dto.js';
import { SAMPLE_EVENT } from './sample-invoice.js';

/** The payload of the event invoice.update.finalized. */
export interface InvoiceFinalizedDto {
  event_type: 'invoice.update.finalized';
  invoice: InvoiceDto;
}

@Route('v1/webhook-events')
@Tags('Webhooks')
export class WebhookSampleController extends ApiController {
  /**
   * Answers a sample of what is sent when an invoice is finalized, so that a receiver can be built:
   * the same one on every call. It needs no key.
   * @summary Show the payload of invoice.update.finalized
   */
  @Post('invoice.update.finalized')
  @Extension('x-operation', { public: true })
  public showInvoiceFinalized(): Promise<InvoiceFinalizedDto> {
    return Promise.resolve(SAMPLE_EVENT);
  }
}
