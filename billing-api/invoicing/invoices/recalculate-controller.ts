import { Extension, Path, Post, Route, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import {
  startedWorkflowToDto,
  type StartedWorkflowDto,
} from '../../declarations/platform/workflow.resource.js';
import type { WriteDependencies } from '../../records/unit.js';
import { startRecalculation } from './start-recalculation.js';

@Route('v1/invoices')
@Tags('Invoices')
export class RecalculateController extends ApiController<WriteDependencies> {
  /**
   * Replaces a voided invoice of a subscription by one of the same period from current data. It is
   * done after the answer; then `recalculated_invoice_id` of the voided one names the replacement.
   * @summary Recalculate an invoice
   */
  @Post('{id}/recalculate')
  @Extension('x-operation', { entity: 'invoice', access: 'write' })
  @SuccessResponse(202, 'Accepted')
  public async recalculateInvoice(@Path() id: string): Promise<StartedWorkflowDto> {
    return startedWorkflowToDto(
      await this.run(startRecalculation, id),
      'the recalculation has begun',
    );
  }
}
