import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../edge/http-failure.js';
import { occasionOf } from '../edge/request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../edge/versions.js';
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
export class AlertSettingsController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

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
  public async createAlertSetting(
    @Request() request: HttpRequest,
    @Body() body: CreateAlertSettingBody,
  ): Promise<AlertSettingDto> {
    const setting = accepted(
      await createAlertSetting(this.dependencies, occasionOf(request), body),
    );
    this.setStatus(201);
    tagVersion(this, setting.version);
    return alertSettingToDto(setting);
  }

  /** @summary Search alert settings */
  @Post('search')
  @Extension('x-operation', { entity: 'alert_setting', access: 'read' })
  public async searchAlertSettings(
    @Request() request: HttpRequest,
    @Body() body: SearchBody,
  ): Promise<AlertSettingListDto> {
    const page = accepted(await searchAlertSettings(this.dependencies, occasionOf(request), body));
    return pageToDto(page, alertSettingToDto);
  }

  /** @summary Read an alert setting */
  @Get('{id}')
  @Extension('x-operation', { entity: 'alert_setting', access: 'read', versioned: true })
  public async readAlertSetting(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<AlertSettingDto> {
    const setting = accepted(await readAlertSetting(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, setting.version);
    return alertSettingToDto(setting);
  }

  /** @summary Change an alert setting */
  @Put('{id}')
  @Extension('x-operation', { entity: 'alert_setting', access: 'write', versioned: true })
  public async changeAlertSetting(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeAlertSettingBody,
  ): Promise<AlertSettingDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const setting = accepted(
      await changeAlertSetting(this.dependencies, occasionOf(request), change),
    );
    tagVersion(this, setting.version);
    return alertSettingToDto(setting);
  }

  /**
   * Another setting can then be made for what it watched.
   * @summary Archive an alert setting
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'alert_setting', access: 'write' })
  public async archiveAlertSetting(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<MessageDto> {
    accepted(await archiveAlertSetting(this.dependencies, occasionOf(request), id));
    return { message: `alert setting ${id} is archived` };
  }
}
