import { Body, Controller, Extension, Post, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { answerPreviewOfAnySize, type PreviewDependencies } from './answer-preview.js';
import type { PreviewDto, PreviewInvoiceBody } from '../../documents/answer/invoice-dto.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { currentScope } from '../../edge/request-scope.js';

@Route('v1/invoices')
@Tags('Invoices')
export class PreviewController extends Controller {
  constructor(private readonly dependencies: PreviewDependencies) {
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
    const asked = { occasion: occasionOf(request), body };
    const { signal } = currentScope();
    return accepted(await answerPreviewOfAnySize(this.dependencies, asked, signal));
  }
}
