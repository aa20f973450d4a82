import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Path,
  Put,
  Request,
  Route,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import type { WriteDependencies } from '../../records/unit.js';
import {
  changeSetting,
  readSetting,
  resetSetting,
  type ChangeSettingBody,
  type SettingDto,
} from './setting-operations.js';

@Route('v1/settings')
@Tags('Settings')
export class SettingsController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /** @summary Read a setting */
  @Get('{key}')
  @Extension('x-operation', { entity: 'setting', access: 'read' })
  public async readSetting(
    @Request() request: HttpRequest,
    @Path() key: string,
  ): Promise<SettingDto> {
    return accepted(await readSetting(this.dependencies, occasionOf(request), key));
  }

  /**
   * The value replaces what was set before; what it leaves out has its default.
   * @summary Change a setting
   */
  @Put('{key}')
  @Extension('x-operation', { entity: 'setting', access: 'write' })
  public async changeSetting(
    @Request() request: HttpRequest,
    @Path() key: string,
    @Body() body: ChangeSettingBody,
  ): Promise<SettingDto> {
    return accepted(await changeSetting(this.dependencies, occasionOf(request), { key, body }));
  }

  /** @summary Give a setting its defaults again */
  @Delete('{key}')
  @Extension('x-operation', { entity: 'setting', access: 'write' })
  public async resetSetting(
    @Request() request: HttpRequest,
    @Path() key: string,
  ): Promise<SettingDto> {
    return accepted(await resetSetting(this.dependencies, occasionOf(request), key));
  }
}
