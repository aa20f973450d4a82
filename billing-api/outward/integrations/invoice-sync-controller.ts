import { Body, Extension, Path, Post, Route, SuccessResponse, Tags } from '@tsoa/runtime';
import {
  startedWorkflowToDto,
  type StartedWorkflowDto,
} from '../../declarations/platform/workflow.resource.js';
import { ApiController } from '../../edge/api-controller.js';
import type { WriteDependencies } from '../../records/unit.js';
import { startSync } from './start-sync.js';

/** @example {"connection_id": "conn_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "method": "push"} */
export interface SyncInvoiceBody {
  /** A connection of type stripe. @minLength 1 @maxLength 255 */
  connection_id: string;
  /** push sends the invoice there; pull takes over what is paid there. */
  method: 'push' | 'pull';
}

@Route('v1/integrations/invoices')
@Tags('Integrations')
export class InvoiceSyncController extends ApiController<WriteDependencies> {
  /**
   * Sends an invoice to a provider that has invoices of its own, or takes over what is paid there.
   * The connection names the direction in its `sync_config`. It is done after the answer; asked for
   * again while it runs, the answer is the same workflow.
   * @summary Sync an invoice with a provider
   */
  @Post('{invoice_id}/sync')
  @Extension('x-operation', { entity: 'integration', access: 'write', notFound: true })
  @SuccessResponse(202, 'Accepted')
  public async syncInvoice(
    @Path() invoice_id: string,
    @Body() body: SyncInvoiceBody,
  ): Promise<StartedWorkflowDto> {
    const { connection_id: connectionId, method } = body;
    const wanted = { invoiceId: invoice_id, connectionId, method };
    const begun = await this.run(startSync, wanted);
    return startedWorkflowToDto(begun, `the ${method} of the invoice has begun`);
  }
}
