import { Controller, Extension, Get, Queries, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { occasionOf } from '../edge/request-context.js';
import type { PageRequest } from '../records/record-dto.js';
import { pageToDto } from '../records/search-records.js';
import type { ReadDependencies } from '../records/unit.js';
import { leftoverToDto, type LeftoverListDto } from './leftover-item.js';
import { readLeftovers } from './read-leftovers.js';

@Route('v1/billing')
@Tags('Invoices')
export class LeftoversController extends Controller {
  constructor(private readonly dependencies: ReadDependencies) {
    super();
  }

  /**
   * What the billing run should have collected and has not, the oldest first, each with its owner
   * and its age. In good order there is nothing but drafts that wait for a meter.
   * @summary List what billing has left behind
   */
  @Get('leftovers')
  @Extension('x-operation', { entity: 'invoice', access: 'read', rate: 'heavy' })
  public async listLeftovers(
    @Request() request: HttpRequest,
    @Queries() query: PageRequest,
  ): Promise<LeftoverListDto> {
    return pageToDto(
      await readLeftovers(this.dependencies, occasionOf(request), query),
      leftoverToDto,
    );
  }
}
