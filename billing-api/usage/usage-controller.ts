import { Body, Controller, Post, Request, Response, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { readEventUsage } from './read-event-usage.js';
import { readMeterUsage } from './read-meter-usage.js';
import type { ErrorDto } from '../records/record-dto.js';
import {
  usageToDto,
  type EventUsageBody,
  type MeterUsageBody,
  type UsageDto,
} from './usage-dto.js';
import { accepted } from '../edge/failure.js';
import { callerOf } from '../edge/request-context.js';
import type { ControllerDependencies } from '../ioc.js';

@Route('v1/events/usage')
@Tags('Usage')
@Response<ErrorDto>(400, 'The request breaks a rule')
@Response<ErrorDto>(401, 'Credentials are missing or unknown')
@Response<ErrorDto>(403, 'The key may not do this')
@Response<ErrorDto>(404, 'A record that the request names does not exist')
@Response<ErrorDto>(409, 'A unique member or the Idempotency-Key is taken')
@Response<ErrorDto>(413, 'The body is larger than 2 MiB')
@Response<ErrorDto>(429, 'Too many requests')
@Response<ErrorDto>(500, 'Unforeseen failure')
@Response<ErrorDto>(503, 'A database does not answer')
export class UsageController extends Controller {
  constructor(private readonly dependencies: ControllerDependencies) {
    super();
  }

  /**
   * De-duplicated usage of a meter, as invoices see it: with the meter's filters and reset rule.
   * Without a customer it is that of all customers.
   * @summary Read the usage of a meter
   */
  @Post('meter')
  public async readMeterUsage(
    @Request() request: HttpRequest,
    @Body() body: MeterUsageBody,
  ): Promise<UsageDto> {
    return usageToDto(accepted(await readMeterUsage(this.dependencies, callerOf(request), body)));
  }

  /**
   * Any aggregation over de-duplicated events, without a meter. Without a customer it is that of
   * all customers.
   * @summary Aggregate events
   */
  @Post()
  public async readEventUsage(
    @Request() request: HttpRequest,
    @Body() body: EventUsageBody,
  ): Promise<UsageDto> {
    return usageToDto(accepted(await readEventUsage(this.dependencies, callerOf(request), body)));
  }
}
