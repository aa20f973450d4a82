import { Body, Extension, Post, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../edge/api-controller.js';
import { alertToDto, type AlertListDto } from '../declarations/alerts/alert-log.resource.js';
import { pageToDto } from '../records/search-records.js';
import type { ReadDependencies } from '../records/unit.js';
import { searchAlerts, type SearchAlertsBody } from './search-alerts.js';

@Route('v1/alerts')
@Tags('Alerts')
export class AlertsController extends ApiController<ReadDependencies> {
  /**
   * Each change of the state of an alert, latest first unless sorted otherwise.
   * @summary Search alerts
   */
  @Post('search')
  @Extension('x-operation', { entity: 'alert', access: 'read' })
  public async searchAlerts(@Body() body: SearchAlertsBody): Promise<AlertListDto> {
    return pageToDto(await this.run(searchAlerts, body), alertToDto);
  }
}
