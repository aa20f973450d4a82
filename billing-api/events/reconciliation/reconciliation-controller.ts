import { Extension, Get, Queries, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import { readReconciliation, type ReconciliationDependencies } from './read-reconciliation.js';
import {
  reconciliationToDto,
  type ReconciliationDto,
  type ReconciliationQuery,
} from './reconciliation-dto.js';

@Route('v1/events/reconciliation')
@Tags('Events')
export class ReconciliationController extends ApiController<ReconciliationDependencies> {
  /**
   * Whether every accepted event is where it should be, by hour of receipt: what was decoded
   * against what is stored. 503 while more events wait than can be counted one by one.
   * @summary Reconcile events
   */
  @Get()
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy' })
  public async readReconciliation(
    @Queries() query: ReconciliationQuery,
  ): Promise<ReconciliationDto> {
    return reconciliationToDto(await this.run(readReconciliation, query));
  }
}
