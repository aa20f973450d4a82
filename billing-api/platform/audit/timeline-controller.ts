import { Extension, Get, Path, Queries, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import type { PageRequest } from '../../records/record-dto.js';
import type { ReadDependencies } from '../../records/unit.js';
import { readTimeline, type TimelineDto } from './customer-timeline.js';

@Route('v1/customers')
@Tags('Audit trail')
export class TimelineController extends ApiController<ReadDependencies> {
  /**
   * Everything that happened to a customer, the first thing first: its subscriptions, pauses,
   * invoices, payments, credits, each with a line that says what it was, and where it is read.
   * @summary Read the timeline of a customer
   */
  @Get('{id}/timeline')
  @Extension('x-operation', { entity: 'audit', access: 'read' })
  public readCustomerTimeline(
    @Path() id: string,
    @Queries() page: PageRequest,
  ): Promise<TimelineDto> {
    return this.run(readTimeline, { id, page });
  }
}
