import { Body, Extension, Post, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../edge/api-controller.js';
import { queryMeterUsage } from './query-meter-usage.js';
import { meterUsageToDto, type MeterUsageQueryBody, type MeterUsageQueryDto } from './usage-dto.js';
import type { UsageReadDependencies } from './usage-customers.js';

@Route('v1/meter-usage')
@Tags('Usage')
export class MeterUsageController extends ApiController<UsageReadDependencies> {
  /**
   * De-duplicated usage of several meters, of some customers together or of all, as invoices see
   * it.
   * @summary Read the usage of meters
   */
  @Post('query')
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy', notFound: true })
  public async queryMeterUsage(@Body() body: MeterUsageQueryBody): Promise<MeterUsageQueryDto> {
    const { items, dataUntil } = await this.run(queryMeterUsage, body);
    return meterUsageToDto({ items, dataUntil });
  }
}
