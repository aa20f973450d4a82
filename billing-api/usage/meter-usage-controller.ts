import { Body, Controller, Post, Request, Response, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { queryMeterUsage } from './query-meter-usage.js';
import type { ErrorDto } from '../records/record-dto.js';
import { meterUsageToDto, type MeterUsageQueryBody, type MeterUsageQueryDto } from './usage-dto.js';
import { accepted } from '../edge/failure.js';
import { callerOf } from '../edge/request-context.js';
import type { ControllerDependencies } from '../ioc.js';

@Route('v1/meter-usage')
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
export class MeterUsageController extends Controller {
  constructor(private readonly dependencies: ControllerDependencies) {
    super();
  }

  /**
   * De-duplicated usage of several meters, of some customers together or of all, as invoices see
   * it.
   * @summary Read the usage of meters
   */
  @Post('query')
  public async queryMeterUsage(
    @Request() request: HttpRequest,
    @Body() body: MeterUsageQueryBody,
  ): Promise<MeterUsageQueryDto> {
    const { items, dataUntil } = accepted(
      await queryMeterUsage(this.dependencies, callerOf(request), body),
    );
    return meterUsageToDto({ items, dataUntil });
  }
}
