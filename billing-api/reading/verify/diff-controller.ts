import { Extension, Get, Path, Query, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import type { BillingDependencies } from '../../invoicing/drafts/compute-tasks.js';
import { invoiceDiffToDto, type InvoiceDiffDto } from './diff-dto.js';
import { diffInvoice } from './diff-invoice.js';

@Route('v1/invoices')
@Tags('Invoices')
export class DiffController extends ApiController<BillingDependencies> {
  /**
   * What became of each line between two invoices, and which of its inputs have changed.
   * @param against Another invoice. Absent: the one that replaced it or that it replaced; of a
   *   draft, what it would compute to now.
   * @summary Compare an invoice
   */
  @Get('{id}/diff')
  @Extension('x-operation', { entity: 'invoice', access: 'read', rate: 'heavy' })
  public async diffInvoice(@Path() id: string, @Query() against?: string): Promise<InvoiceDiffDto> {
    return invoiceDiffToDto(await this.run(diffInvoice, { id, against }));
  }
}
