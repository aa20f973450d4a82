import { Body, Controller, Extension, Post, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { queryMeterUsage } from './query-meter-usage.js';
import { meterUsageToDto, type MeterUsageQueryBody, type MeterUsageQueryDto } from './usage-dto.js';
import { accepted } from '../edge/http-failure.js';
import { occasionOf } from '../edge/request-context.js';
import type { UsageReadDependencies } from './usage-customers.js';

@Route('v1/meter-usage')
@Tags('Usage')
export class MeterUsageController extends Controller {
  constructor(private readonly dependencies: UsageReadDependencies) {
    super();
  }

  /**
   * De-duplicated usage of several meters, of some customers together or of all, as invoices see
   * it.
   * @summary Read the usage of meters
   */
  @Post('query')
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy', notFound: true })
  public async queryMeterUsage(
    @Request() request: HttpRequest,
    @Body() body: MeterUsageQueryBody,
  ): Promise<MeterUsageQueryDto> {
    const { items, dataUntil } = accepted(
      await queryMeterUsage(this.dependencies, occasionOf(request), body),
    );
    return meterUsageToDto({ items, dataUntil });
  }
}
