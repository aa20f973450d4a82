import { Extension, Get, Queries, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../edge/api-controller.js';
import type { PageRequest } from '../records/record-dto.js';
import { pageToDto } from '../records/search-records.js';
import type { ReadDependencies } from '../records/unit.js';
import { leftoverToDto, type LeftoverListDto } from './leftover-item.js';
import { readLeftovers } from './read-leftovers.js';

@Route('v1/billing')
@Tags('Invoices')
export class LeftoversController extends ApiController<ReadDependencies> {
  /**
   * What the billing run should have collected and has not, the oldest first, each with its owner
   * and its age. In good order there is nothing but drafts that wait for a meter.
   * @summary List what billing has left behind
   */
  @Get('leftovers')
  @Extension('x-operation', { entity: 'invoice', access: 'read', rate: 'heavy' })
  public async listLeftovers(@Queries() query: PageRequest): Promise<LeftoverListDto> {
    return pageToDto(await this.run(readLeftovers, query), leftoverToDto);
  }
}
