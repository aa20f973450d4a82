import { Body, Extension, Path, Post, Put, Route, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import { tagVersion } from '../../edge/versions.js';
import type { WriteDependencies } from '../../records/unit.js';
import { invoicesToDtosInTurns, invoiceToDto } from '../../documents/answer/invoice-answer.js';
import type { InvoiceDto, InvoiceListDto } from '../../documents/answer/invoice-dto.js';
import { changeInvoice, type ChangeInvoiceBody } from './change-invoice.js';
import { createInvoice } from './create-invoice.js';
import type { CreateInvoiceBody } from './given-invoice-request.js';
import type { SearchInvoicesBody } from './invoice-search.js';
import { searchInvoices } from './search-invoices.js';

@Route('v1/invoices')
@Tags('Invoices')
export class InvoicesController extends ApiController<WriteDependencies> {
  /**
   * An invoice with given lines, finalized at once. Invoices of subscriptions are made by
   * themselves.
   * @summary Create a one-off invoice
   */
  @Post()
  @Extension('x-operation', { entity: 'invoice', access: 'write', versioned: true, notFound: true })
  @SuccessResponse(201, 'Created')
  public async createInvoice(@Body() body: CreateInvoiceBody): Promise<InvoiceDto> {
    const document = await this.run(createInvoice, body);
    tagVersion(this, document.header.version);
    return invoiceToDto(document, null);
  }

  /** @summary Search invoices */
  @Post('search')
  @Extension('x-operation', { entity: 'invoice', access: 'read' })
  public async searchInvoices(@Body() body: SearchInvoicesBody): Promise<InvoiceListDto> {
    const page = await this.run(searchInvoices, body);
    return {
      items: await invoicesToDtosInTurns(page.items, null),
      pagination: page.pagination,
    };
  }

  /**
   * The due date, the address of the PDF and the metadata of a draft or finalized invoice.
   * @summary Change an invoice
   */
  @Put('{id}')
  @Extension('x-operation', { entity: 'invoice', access: 'write', versioned: true })
  public async changeInvoice(
    @Path() id: string,
    @Body() body: ChangeInvoiceBody,
  ): Promise<InvoiceDto> {
    const document = await this.run(changeInvoice, this.changeOf(id, body));
    tagVersion(this, document.header.version);
    return invoiceToDto(document, null);
  }
}
