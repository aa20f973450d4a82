import { Body, Extension, Post, Route, Tags } from '@tsoa/runtime';
import { answerPreviewOfAnySize, type PreviewDependencies } from './answer-preview.js';
import type { PreviewDto, PreviewInvoiceBody } from '../../documents/answer/invoice-dto.js';
import { ApiController } from '../../edge/api-controller.js';
import { accepted } from '../../edge/http-failure.js';
import { currentScope } from '../../edge/request-scope.js';

@Route('v1/invoices')
@Tags('Invoices')
export class PreviewController extends ApiController<PreviewDependencies> {
  /**
   * The invoice of a period as it stands now: usage and arrear charges of the period, advance
   * charges of the next. With `explain` every line explains its amount. Nothing is stored.
   * @summary Preview an invoice
   */
  @Post('preview')
  @Extension('x-operation', { entity: 'invoice', access: 'read', rate: 'heavy', notFound: true })
  public async previewInvoice(@Body() body: PreviewInvoiceBody): Promise<PreviewDto> {
    const { signal } = currentScope();
    return accepted(
      await answerPreviewOfAnySize(this.dependencies, { occasion: this.occasion, body }, signal),
    );
  }
}
