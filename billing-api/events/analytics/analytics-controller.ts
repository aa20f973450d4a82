import { Body, Controller, Post, Request, Response, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { readAnalytics } from './read-analytics.js';
import { analyticsToDto, type AnalyticsBody, type AnalyticsDto } from './analytics-dto.js';
import type { ErrorDto } from '../../records/record-dto.js';
import { accepted } from '../../edge/failure.js';
import { callerOf } from '../../edge/request-context.js';
import type { ControllerDependencies } from '../../ioc.js';

@Route('v1/events/analytics')
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
export class AnalyticsController extends Controller {
  constructor(private readonly dependencies: ControllerDependencies) {
    super();
  }

  /**
   * What a customer used, by the usage line items that overlap the range: usage as invoices see it,
   * and what it costs at each line's price. Commitments, entitlements and discounts are not priced
   * yet: their members are null or 0.
   * @summary Analyse the usage of a customer
   */
  @Post()
  public async readAnalytics(
    @Request() request: HttpRequest,
    @Body() body: AnalyticsBody,
  ): Promise<AnalyticsDto> {
    return analyticsToDto(
      accepted(await readAnalytics(this.dependencies, callerOf(request), body)),
    );
  }
}
