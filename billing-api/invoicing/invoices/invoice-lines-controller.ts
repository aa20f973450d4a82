import {
  Body,
  Controller,
  Delete,
  Extension,
  Path,
  Post,
  Put,
  Request,
  Route,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
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
export class InvoiceLinesController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * Adds a line to a draft. From then on no job computes the draft; coupons, taxes and sums follow
   * from its lines.
   * @summary Add a line to a draft
   */
  @Post('{id}/line_items')
  @Extension('x-operation', { entity: 'invoice', access: 'write' })
  public async addInvoiceLine(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: AddInvoiceLineBody,
  ): Promise<InvoiceDto> {
    const target = { id };
    const change = { target, body };
    const outcome = await addInvoiceLine(this.dependencies, occasionOf(request), change);
    return invoiceToDto(accepted(outcome), null);
  }

  /* eslint-disable max-params */
  /** @summary Change a line of a draft */
  @Put('{id}/line_items/{line_id}')
  @Extension('x-operation', { entity: 'invoice', access: 'write' })
  public async changeInvoiceLine(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Path('line_id') lineId: string,
    @Body() body: ChangeInvoiceLineBody,
  ): Promise<InvoiceDto> {
    const target = { id };
    const change = { target, lineId, body };
    const outcome = await changeInvoiceLine(this.dependencies, occasionOf(request), change);
    return invoiceToDto(accepted(outcome), null);
  }

  /* eslint-enable max-params */

  /**
   * Answers the draft without the line.
   * @summary Remove a line of a draft
   */
  @Delete('{id}/line_items/{line_id}')
  @Extension('x-operation', { entity: 'invoice', access: 'write' })
  public async removeInvoiceLine(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Path('line_id') lineId: string,
  ): Promise<InvoiceDto> {
    const target = { id };
    const change = { target, lineId };
    const outcome = await removeInvoiceLine(this.dependencies, occasionOf(request), change);
    return invoiceToDto(accepted(outcome), null);
  }
}
