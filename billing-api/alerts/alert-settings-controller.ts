import {
  Body,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import { ApiController } from '../edge/api-controller.js';
import type { MessageDto } from '../records/record-dto.js';
import type { WriteDependencies } from '../records/unit.js';
import type { SearchBody } from '../records/record-dto.js';
import { pageToDto } from '../records/search-records.js';
import {
  archiveAlertSetting,
  changeAlertSetting,
  createAlertSetting,
  readAlertSetting,
  searchAlertSettings,
} from './alert-setting-operations.js';
import {
  alertSettingToDto,
  type AlertSettingDto,
  type AlertSettingListDto,
  type ChangeAlertSettingBody,
  type CreateAlertSettingBody,
} from '../declarations/alerts/alert-setting.resource.js';

@Route('v1/alerts/setting')
@Tags('Alerts')
export class AlertSettingsController extends ApiController<WriteDependencies> {
  /**
   * What a subscription, one of its line items or a group spends is watched, every five minutes.
   * @summary Create an alert setting
   */
  @Post()
  @Extension('x-operation', {
    entity: 'alert_setting',
    access: 'write',
    versioned: true,
    notFound: true,
  })
  @SuccessResponse(201, 'Created')
  public async createAlertSetting(@Body() body: CreateAlertSettingBody): Promise<AlertSettingDto> {
    return alertSettingToDto(this.tagged(await this.run(createAlertSetting, body)));
  }

  /** @summary Search alert settings */
  @Post('search')
  @Extension('x-operation', { entity: 'alert_setting', access: 'read' })
  public async searchAlertSettings(@Body() body: SearchBody): Promise<AlertSettingListDto> {
    return pageToDto(await this.run(searchAlertSettings, body), alertSettingToDto);
  }

  /** @summary Read an alert setting */
  @Get('{id}')
  @Extension('x-operation', { entity: 'alert_setting', access: 'read', versioned: true })
  public async readAlertSetting(@Path() id: string): Promise<AlertSettingDto> {
    return alertSettingToDto(this.matched(await this.run(readAlertSetting, id)));
  }

  /** @summary Change an alert setting */
  @Put('{id}')
  @Extension('x-operation', { entity: 'alert_setting', access: 'write', versioned: true })
  public async changeAlertSetting(
    @Path() id: string,
    @Body() body: ChangeAlertSettingBody,
  ): Promise<AlertSettingDto> {
    return alertSettingToDto(
      this.tagged(await this.run(changeAlertSetting, this.changeOf(id, body))),
    );
  }

  /**
   * Another setting can then be made for what it watched.
   * @summary Archive an alert setting
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'alert_setting', access: 'write' })
  public async archiveAlertSetting(@Path() id: string): Promise<MessageDto> {
    await this.run(archiveAlertSetting, id);
    return { message: `alert setting ${id} is archived` };
  }
}
