import { Controller, Extension, Get, Path, Queries, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import type { PageRequest } from '../../records/record-dto.js';
import type { ReadDependencies } from '../../records/unit.js';
import { readTimeline, type TimelineDto } from './customer-timeline.js';

@Route('v1/customers')
@Tags('Audit trail')
export class TimelineController extends Controller {
  constructor(private readonly dependencies: ReadDependencies) {
    super();
  }

  /**
   * Everything that happened to a customer, the first thing first: its subscriptions, pauses,
   * invoices, payments, credits, each with a line that says what it was, and where it is read.
   * @summary Read the timeline of a customer
   */
  @Get('{id}/timeline')
  @Extension('x-operation', { entity: 'audit', access: 'read' })
  public async readCustomerTimeline(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Queries() page: PageRequest,
  ): Promise<TimelineDto> {
    return accepted(await readTimeline(this.dependencies, occasionOf(request), { id, page }));
  }
}
