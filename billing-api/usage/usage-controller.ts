import { Body, Controller, Extension, Post, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { readEventUsage } from './read-event-usage.js';
import { readMeterUsage } from './read-meter-usage.js';
import {
  usageToDto,
  type EventUsageBody,
  type MeterUsageBody,
  type UsageDto,
} from './usage-dto.js';
import { accepted } from '../edge/http-failure.js';
import { occasionOf } from '../edge/request-context.js';
import type { UsageReadDependencies } from './usage-customers.js';

@Route('v1/events/usage')
@Tags('Usage')
export class UsageController extends Controller {
  constructor(private readonly dependencies: UsageReadDependencies) {
    super();
  }

  /**
   * De-duplicated usage of a meter, as invoices see it: with the meter's filters and reset rule.
   * Without a customer it is that of all customers.
   * @summary Read the usage of a meter
   */
  @Post('meter')
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy', notFound: true })
  public async readMeterUsage(
    @Request() request: HttpRequest,
    @Body() body: MeterUsageBody,
  ): Promise<UsageDto> {
    return usageToDto(accepted(await readMeterUsage(this.dependencies, occasionOf(request), body)));
  }

  /**
   * Any aggregation over de-duplicated events, without a meter. Without a customer it is that of
   * all customers.
   * @summary Aggregate events
   */
  @Post()
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy', notFound: true })
  public async readEventUsage(
    @Request() request: HttpRequest,
    @Body() body: EventUsageBody,
  ): Promise<UsageDto> {
    return usageToDto(accepted(await readEventUsage(this.dependencies, occasionOf(request), body)));
  }
}
