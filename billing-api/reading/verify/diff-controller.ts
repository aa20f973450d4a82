import { Controller, Extension, Get, Path, Query, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import type { BillingDependencies } from '../../invoicing/drafts/compute-tasks.js';
import { invoiceDiffToDto, type InvoiceDiffDto } from './diff-dto.js';
import { diffInvoice } from './diff-invoice.js';

@Route('v1/invoices')
@Tags('Invoices')
export class DiffController extends Controller {
  constructor(private readonly dependencies: BillingDependencies) {
    super();
  }

  /**
   * What became of each line between two invoices, and which of its inputs have changed.
   * @param against Another invoice. Absent: the one that replaced it or that it replaced; of a
   *   draft, what it would compute to now.
   * @summary Compare an invoice
   */
  @Get('{id}/diff')
  @Extension('x-operation', { entity: 'invoice', access: 'read', rate: 'heavy' })
  public async diffInvoice(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Query() against?: string,
  ): Promise<InvoiceDiffDto> {
    const asked = { id, against };
    return invoiceDiffToDto(
      accepted(await diffInvoice(this.dependencies, occasionOf(request), asked)),
    );
  }
}
