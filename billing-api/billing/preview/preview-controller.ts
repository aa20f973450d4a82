import { Body, Controller, Extension, Post, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { previewInvoice } from './preview-invoice.js';
import { invoiceToDto } from '../answer/invoice-answer.js';
import type { PreviewDto, PreviewInvoiceBody } from '../answer/invoice-dto.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';

@Route('v1/invoices')
@Tags('Invoices')
export class PreviewController extends Controller {
  constructor(private readonly dependencies: UsageReadDependencies) {
    super();
  }

  /**
   * The invoice of a period as it stands now: usage and arrear charges of the period, advance
   * charges of the next. With `explain` every line explains its amount. Nothing is stored.
   * @summary Preview an invoice
   */
  @Post('preview')
  @Extension('x-operation', { entity: 'invoice', access: 'read', rate: 'heavy', notFound: true })
  public async previewInvoice(
    @Request() request: HttpRequest,
    @Body() body: PreviewInvoiceBody,
  ): Promise<PreviewDto> {
    const preview = accepted(await previewInvoice(this.dependencies, occasionOf(request), body));
    const { document, warnings } = preview;
    const { windows_limit: limit = 100, windows_offset: offset = 0 } = body;
    const answer = invoiceToDto(document, body.explain === true ? { limit, offset } : null);
    return { ...answer, warnings: [...warnings] };
  }
}
