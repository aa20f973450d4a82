import {
  Body,
  Controller,
  Extension,
  Path,
  Post,
  Put,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions, tagVersion } from '../../edge/versions.js';
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
export class InvoicesController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * An invoice with given lines, finalized at once. Invoices of subscriptions are made by
   * themselves.
   * @summary Create a one-off invoice
   */
  @Post()
  @Extension('x-operation', { entity: 'invoice', access: 'write', versioned: true, notFound: true })
  @SuccessResponse(201, 'Created')
  public async createInvoice(
    @Request() request: HttpRequest,
    @Body() body: CreateInvoiceBody,
  ): Promise<InvoiceDto> {
    const document = accepted(await createInvoice(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    tagVersion(this, document.header.version);
    return invoiceToDto(document, null);
  }

  /** @summary Search invoices */
  @Post('search')
  @Extension('x-operation', { entity: 'invoice', access: 'read' })
  public async searchInvoices(
    @Request() request: HttpRequest,
    @Body() body: SearchInvoicesBody,
  ): Promise<InvoiceListDto> {
    const page = accepted(await searchInvoices(this.dependencies, occasionOf(request), body));
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
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeInvoiceBody,
  ): Promise<InvoiceDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const document = accepted(await changeInvoice(this.dependencies, occasionOf(request), change));
    tagVersion(this, document.header.version);
    return invoiceToDto(document, null);
  }
}
