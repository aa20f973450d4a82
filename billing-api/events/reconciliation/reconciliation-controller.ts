import { Controller, Extension, Get, Queries, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { readReconciliation, type ReconciliationDependencies } from './read-reconciliation.js';
import {
  reconciliationToDto,
  type ReconciliationDto,
  type ReconciliationQuery,
} from './reconciliation-dto.js';

@Route('v1/events/reconciliation')
@Tags('Events')
export class ReconciliationController extends Controller {
  constructor(private readonly dependencies: ReconciliationDependencies) {
    super();
  }

  /**
   * Whether every accepted event is where it should be, by hour of receipt: what was decoded
   * against what is stored. 503 while more events wait than can be counted one by one.
   * @summary Reconcile events
   */
  @Get()
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy' })
  public async readReconciliation(
    @Request() request: HttpRequest,
    @Queries() query: ReconciliationQuery,
  ): Promise<ReconciliationDto> {
    const occasion = occasionOf(request);
    return reconciliationToDto(
      accepted(await readReconciliation(this.dependencies, occasion, query)),
    );
  }
}
