import { Readable } from 'node:stream';
import { Controller, Extension, Get, Path, Produces, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { assertPresent } from '../../../runtime/failure.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import type { ReadDependencies } from '../../records/unit.js';
import { invoiceToDto } from '../answer/invoice-answer.js';
import { readInvoice } from '../invoices/read-invoice.js';
import { invoiceCsv } from './invoice-csv.js';
import { printInvoice } from './print-invoice.js';

@Route('v1/invoices')
@Tags('Invoices')
export class PrintController extends Controller {
  constructor(private readonly dependencies: ReadDependencies) {
    super();
  }

  /**
   * A stored invoice on paper. A draft and a voided invoice say so. The same invoice gives the same
   * bytes.
   * @summary Print an invoice
   */
  @Get('{id}/pdf')
  @Extension('x-operation', { entity: 'invoice', access: 'read', rate: 'heavy' })
  @Produces('application/pdf')
  public async printInvoice(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<Readable> {
    const bytes = accepted(await printInvoice(this.dependencies, occasionOf(request), id));
    // Sent here: the generated routes would make JSON of it.
    const response = assertPresent(request.res, 'the response of a request');
    response.attachment(`${id}.pdf`).status(200).type('application/pdf').send(bytes);
    return Readable.from([]);
  }

  /**
   * The lines of a stored invoice as CSV with a header line.
   * @summary Download the lines of an invoice
   */
  @Get('{id}/lines.csv')
  @Extension('x-operation', { entity: 'invoice', access: 'read' })
  @Produces('text/csv')
  public async downloadInvoiceLines(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<string> {
    const document = accepted(await readInvoice(this.dependencies, occasionOf(request), id));
    const text = invoiceCsv(invoiceToDto(document, null));
    const response = assertPresent(request.res, 'the response of a request');
    response.attachment(`${id}.csv`).status(200).type('text/csv').send(text);
    return text;
  }
}
