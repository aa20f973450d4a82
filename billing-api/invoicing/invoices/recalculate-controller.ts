import {
  Controller,
  Extension,
  Path,
  Post,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import {
  startedWorkflowToDto,
  type StartedWorkflowDto,
} from '../../declarations/platform/workflow.resource.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import type { WriteDependencies } from '../../records/unit.js';
import { startRecalculation } from './start-recalculation.js';

@Route('v1/invoices')
@Tags('Invoices')
export class RecalculateController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * Replaces a voided invoice of a subscription by one of the same period from current data. It is
   * done after the answer; then `recalculated_invoice_id` of the voided one names the replacement.
   * @summary Recalculate an invoice
   */
  @Post('{id}/recalculate')
  @Extension('x-operation', { entity: 'invoice', access: 'write' })
  @SuccessResponse(202, 'Accepted')
  public async recalculateInvoice(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<StartedWorkflowDto> {
    const workflow = accepted(await startRecalculation(this.dependencies, occasionOf(request), id));
    this.setStatus(202);
    return startedWorkflowToDto(workflow, 'the recalculation has begun');
  }
}
