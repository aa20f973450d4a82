import { Body, Extension, Post, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import { readAnalytics } from './read-analytics.js';
import { analyticsToDto } from './analytics-answer.js';
import type { AnalyticsBody, AnalyticsDto } from './analytics-dto.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';

@Route('v1/events/analytics')
@Tags('Usage')
export class AnalyticsController extends ApiController<UsageReadDependencies> {
  /**
   * What a customer used, by the usage line items that overlap the range: usage as invoices see it,
   * and what it costs: as invoices charge it where the range consists of whole billing periods,
   * else at each line's price. `costs_exclude` says what an invoice takes into account beside.
   * @summary Analyse the usage of a customer
   */
  @Post()
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy', notFound: true })
  public async readAnalytics(@Body() body: AnalyticsBody): Promise<AnalyticsDto> {
    return analyticsToDto(await this.run(readAnalytics, body));
  }
}
