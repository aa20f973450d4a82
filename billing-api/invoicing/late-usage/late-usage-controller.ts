import { Controller, Extension, Get, Queries, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { occasionOf } from '../../edge/request-context.js';
import { pageToDto } from '../../records/search-records.js';
import type { ReadDependencies } from '../../records/unit.js';
import { lateUsageToDto, type LateUsageListDto, type LateUsageQuery } from './late-usage-dto.js';
import { readLateUsage } from './read-late-usage.js';

@Route('v1/billing')
@Tags('Invoices')
export class LateUsageController extends Controller {
  constructor(private readonly dependencies: ReadDependencies) {
    super();
  }

  /**
   * Usage that came after the invoice of its period was finalized, the oldest period first: by line
   * of the invoice, with what it costs at the prices of that period and what was charged since.
   * @summary List late usage
   */
  @Get('late-usage')
  @Extension('x-operation', { entity: 'invoice', access: 'read', rate: 'heavy' })
  public async listLateUsage(
    @Request() request: HttpRequest,
    @Queries() query: LateUsageQuery,
  ): Promise<LateUsageListDto> {
    return pageToDto(
      await readLateUsage(this.dependencies, occasionOf(request), query),
      lateUsageToDto,
    );
  }
}
