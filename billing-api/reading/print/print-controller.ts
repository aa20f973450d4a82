import { Readable } from 'node:stream';
import { Extension, Get, Path, Produces, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import { assertPresent } from '../../../runtime/failure.js';
import { invoiceToDtoInTurns } from '../../documents/answer/invoice-answer.js';
import { readInvoice } from '../../invoicing/invoices/read-invoice.js';
import { invoiceCsv } from './invoice-csv.js';
import { NO_WINDOWS } from './printed-invoice.js';
import { printCreditNote, printInvoice, type PrintDependencies } from './print-invoice.js';

@Route('v1')
export class PrintController extends ApiController<PrintDependencies> {
  /**
   * A stored invoice on paper. A draft and a voided invoice say so. The same invoice gives the same
   * bytes.
   * @summary Print an invoice
   */
  @Get('invoices/{id}/pdf')
  @Tags('Invoices')
  @Extension('x-operation', { entity: 'invoice', access: 'read', rate: 'heavy' })
  @Produces('application/pdf')
  public async printInvoice(@Path() id: string): Promise<Readable> {
    return this.sent(`${id}.pdf`, await this.run(printInvoice, id));
  }

  /**
   * A credit note on paper. A draft and a voided note say so.
   * @summary Print a credit note
   */
  @Get('creditnotes/{id}/pdf')
  @Tags('Credit notes')
  @Extension('x-operation', { entity: 'credit_note', access: 'read', rate: 'heavy' })
  @Produces('application/pdf')
  public async printCreditNote(@Path() id: string): Promise<Readable> {
    return this.sent(`${id}.pdf`, await this.run(printCreditNote, id));
  }

  /**
   * The lines of a stored invoice as CSV with a header line.
   * @summary Download the lines of an invoice
   */
  @Get('invoices/{id}/lines.csv')
  @Tags('Invoices')
  @Extension('x-operation', { entity: 'invoice', access: 'read' })
  @Produces('text/csv')
  public async downloadInvoiceLines(@Path() id: string): Promise<string> {
    const document = await this.run(readInvoice, id);
    const text = await invoiceCsv(await invoiceToDtoInTurns(document, NO_WINDOWS));
    const response = assertPresent(this.request.res, 'the response of a request');
    response.attachment(`${id}.csv`).status(200).type('text/csv').send(text);
    return text;
  }

  /** Sends a file here: the generated routes would make JSON of it. */
  private sent(name: string, bytes: Buffer): Readable {
    const response = assertPresent(this.request.res, 'the response of a request');
    response.attachment(name).status(200).type('application/pdf').send(bytes);
    return Readable.from([]);
  }
}
