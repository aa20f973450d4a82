import { Body, Controller, Post, Request, Response, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { previewInvoice } from './preview-invoice.js';
import type { ErrorDto } from '../records/record-dto.js';
import type { InvoiceDto, PreviewInvoiceBody } from './invoice-dto.js';
import { invoicePreviewToDto } from './invoice-preview.js';
import { accepted } from '../edge/failure.js';
import { callerOf } from '../edge/request-context.js';
import type { ControllerDependencies } from '../ioc.js';

@Route('v1/invoices')
@Tags('Invoices')
@Response<ErrorDto>(400, 'The request breaks a rule')
@Response<ErrorDto>(401, 'Credentials are missing or unknown')
@Response<ErrorDto>(403, 'The key may not do this')
@Response<ErrorDto>(404, 'A record that the request names does not exist')
@Response<ErrorDto>(409, 'A unique member or the Idempotency-Key is taken')
@Response<ErrorDto>(413, 'The body is larger than 2 MiB')
@Response<ErrorDto>(429, 'Too many requests')
@Response<ErrorDto>(500, 'Unforeseen failure')
@Response<ErrorDto>(503, 'A database does not answer')
export class InvoicesController extends Controller {
  constructor(private readonly dependencies: ControllerDependencies) {
    super();
  }

  /**
   * The invoice of a period as it stands now: usage and arrear charges of the period, advance
   * charges of the next. With `explain` every line says how it came about. Nothing is stored.
   * @summary Preview an invoice
   */
  @Post('preview')
  public async previewInvoice(
    @Request() request: HttpRequest,
    @Body() body: PreviewInvoiceBody,
  ): Promise<InvoiceDto> {
    const preview = accepted(await previewInvoice(this.dependencies, callerOf(request), body));
    const { windows_limit: limit = 100, windows_offset: offset = 0 } = body;
    return invoicePreviewToDto(preview, body.explain === true ? { limit, offset } : null);
  }
}
