import { Controller, Extension, Get, Path, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { tagVersion } from '../../edge/versions.js';
import type { WriteDependencies } from '../../records/unit.js';
import { invoiceToDto } from '../answer/invoice-answer.js';
import type { InvoiceDto } from '../answer/invoice-dto.js';
import { readInvoice } from './read-invoice.js';

@Route('v1/invoices')
@Tags('Invoices')
export class InvoicesController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * A stored invoice with its lines, coupons and taxes.
   * @summary Read an invoice
   */
  @Get('{id}')
  @Extension('x-operation', { entity: 'invoice', access: 'read', versioned: true, notFound: true })
  public async readInvoice(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<InvoiceDto> {
    const document = accepted(await readInvoice(this.dependencies, occasionOf(request), id));
    tagVersion(this, document.header.version);
    return invoiceToDto(document, null);
  }
}
