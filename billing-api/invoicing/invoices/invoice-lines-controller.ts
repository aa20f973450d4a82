import { Body, Delete, Extension, Path, Post, Put, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import type { WriteDependencies } from '../../records/unit.js';
import { invoiceToDto } from '../../documents/answer/invoice-answer.js';
import type { InvoiceDto } from '../../documents/answer/invoice-dto.js';
import {
  addInvoiceLine,
  changeInvoiceLine,
  removeInvoiceLine,
  type AddInvoiceLineBody,
  type ChangeInvoiceLineBody,
} from './change-lines.js';

@Route('v1/invoices')
@Tags('Invoices')
export class InvoiceLinesController extends ApiController<WriteDependencies> {
  /**
   * Adds a line to a draft. From then on no job computes the draft; coupons, taxes and sums follow
   * from its lines.
   * @summary Add a line to a draft
   */
  @Post('{id}/line_items')
  @Extension('x-operation', { entity: 'invoice', access: 'write' })
  public async addInvoiceLine(
    @Path() id: string,
    @Body() body: AddInvoiceLineBody,
  ): Promise<InvoiceDto> {
    return invoiceToDto(await this.run(addInvoiceLine, { target: { id }, body }), null);
  }

  /** @summary Change a line of a draft */
  @Put('{id}/line_items/{line_id}')
  @Extension('x-operation', { entity: 'invoice', access: 'write' })
  public async changeInvoiceLine(
    @Path() id: string,
    @Path('line_id') lineId: string,
    @Body() body: ChangeInvoiceLineBody,
  ): Promise<InvoiceDto> {
    return invoiceToDto(await this.run(changeInvoiceLine, { target: { id }, lineId, body }), null);
  }

  /**
   * Answers the draft without the line.
   * @summary Remove a line of a draft
   */
  @Delete('{id}/line_items/{line_id}')
  @Extension('x-operation', { entity: 'invoice', access: 'write' })
  public async removeInvoiceLine(
    @Path() id: string,
    @Path('line_id') lineId: string,
  ): Promise<InvoiceDto> {
    return invoiceToDto(await this.run(removeInvoiceLine, { target: { id }, lineId }), null);
  }
}
