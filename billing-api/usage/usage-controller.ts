import { Body, Extension, Post, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../edge/api-controller.js';
import { readEventUsage } from './read-event-usage.js';
import { readMeterUsage } from './read-meter-usage.js';
import {
  usageToDto,
  type EventUsageBody,
  type MeterUsageBody,
  type UsageDto,
} from './usage-dto.js';
import type { UsageReadDependencies } from './usage-customers.js';

@Route('v1/events/usage')
@Tags('Usage')
export class UsageController extends ApiController<UsageReadDependencies> {
  /**
   * De-duplicated usage of a meter, as invoices see it: with the meter's filters and reset rule.
   * Without a customer it is that of all customers.
   * @summary Read the usage of a meter
   */
  @Post('meter')
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy', notFound: true })
  public async readMeterUsage(@Body() body: MeterUsageBody): Promise<UsageDto> {
    return usageToDto(await this.run(readMeterUsage, body));
  }

  /**
   * Any aggregation over de-duplicated events, without a meter. Without a customer it is that of
   * all customers.
   * @summary Aggregate events
   */
  @Post()
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy', notFound: true })
  public async readEventUsage(@Body() body: EventUsageBody): Promise<UsageDto> {
    return usageToDto(await this.run(readEventUsage, body));
  }
}
