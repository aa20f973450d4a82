import { Readable } from 'node:stream';
import { Controller, Extension, Get, Path, Produces, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { assertPresent } from '../../../runtime/failure.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { invoiceToDtoInTurns } from '../../documents/answer/invoice-answer.js';
import { readInvoice } from '../../invoicing/invoices/read-invoice.js';
import { invoiceCsv } from './invoice-csv.js';
import { NO_WINDOWS } from './printed-invoice.js';
import { printCreditNote, printInvoice, type PrintDependencies } from './print-invoice.js';

/** Sends a file here: the generated routes would make JSON of it. */
function sent(request: HttpRequest, name: string, bytes: Buffer): Readable {
  const response = assertPresent(request.res, 'the response of a request');
  response.attachment(name).status(200).type('application/pdf').send(bytes);
  return Readable.from([]);
}

@Route('v1')
export class PrintController extends Controller {
  constructor(private readonly dependencies: PrintDependencies) {
    super();
  }

  /**
   * A stored invoice on paper. A draft and a voided invoice say so. The same invoice gives the same
   * bytes.
   * @summary Print an invoice
   */
  @Get('invoices/{id}/pdf')
  @Tags('Invoices')
  @Extension('x-operation', { entity: 'invoice', access: 'read', rate: 'heavy' })
  @Produces('application/pdf')
  public async printInvoice(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<Readable> {
    const bytes = accepted(await printInvoice(this.dependencies, occasionOf(request), id));
    return sent(request, `${id}.pdf`, bytes);
  }

  /**
   * A credit note on paper. A draft and a voided note say so.
   * @summary Print a credit note
   */
  @Get('creditnotes/{id}/pdf')
  @Tags('Credit notes')
  @Extension('x-operation', { entity: 'credit_note', access: 'read', rate: 'heavy' })
  @Produces('application/pdf')
  public async printCreditNote(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<Readable> {
    const bytes = accepted(await printCreditNote(this.dependencies, occasionOf(request), id));
    return sent(request, `${id}.pdf`, bytes);
  }

  /**
   * The lines of a stored invoice as CSV with a header line.
   * @summary Download the lines of an invoice
   */
  @Get('invoices/{id}/lines.csv')
  @Tags('Invoices')
  @Extension('x-operation', { entity: 'invoice', access: 'read' })
  @Produces('text/csv')
  public async downloadInvoiceLines(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<string> {
    const document = accepted(await readInvoice(this.dependencies, occasionOf(request), id));
    const text = await invoiceCsv(await invoiceToDtoInTurns(document, NO_WINDOWS));
    const response = assertPresent(request.res, 'the response of a request');
    response.attachment(`${id}.csv`).status(200).type('text/csv').send(text);
    return text;
  }
}
