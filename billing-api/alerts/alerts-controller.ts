import { Body, Controller, Extension, Post, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { alertToDto, type AlertListDto } from '../declarations/alerts/alert-log.resource.js';
import { accepted } from '../edge/http-failure.js';
import { occasionOf } from '../edge/request-context.js';
import { pageToDto } from '../records/search-records.js';
import type { ReadDependencies } from '../records/unit.js';
import { searchAlerts, type SearchAlertsBody } from './search-alerts.js';

@Route('v1/alerts')
@Tags('Alerts')
export class AlertsController extends Controller {
  constructor(private readonly dependencies: ReadDependencies) {
    super();
  }

  /**
   * Each change of the state of an alert, latest first unless sorted otherwise.
   * @summary Search alerts
   */
  @Post('search')
  @Extension('x-operation', { entity: 'alert', access: 'read' })
  public async searchAlerts(
    @Request() request: HttpRequest,
    @Body() body: SearchAlertsBody,
  ): Promise<AlertListDto> {
    const page = accepted(await searchAlerts(this.dependencies, occasionOf(request), body));
    return pageToDto(page, alertToDto);
  }
}
