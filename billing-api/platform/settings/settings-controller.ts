import { Body, Delete, Extension, Get, Path, Put, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
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
export class SettingsController extends ApiController<WriteDependencies> {
  /** @summary Read a setting */
  @Get('{key}')
  @Extension('x-operation', { entity: 'setting', access: 'read' })
  public readSetting(@Path() key: string): Promise<SettingDto> {
    return this.run(readSetting, key);
  }

  /**
   * The value replaces what was set before; what it leaves out has its default.
   * @summary Change a setting
   */
  @Put('{key}')
  @Extension('x-operation', { entity: 'setting', access: 'write' })
  public changeSetting(@Path() key: string, @Body() body: ChangeSettingBody): Promise<SettingDto> {
    return this.run(changeSetting, { key, body });
  }

  /** @summary Give a setting its defaults again */
  @Delete('{key}')
  @Extension('x-operation', { entity: 'setting', access: 'write' })
  public resetSetting(@Path() key: string): Promise<SettingDto> {
    return this.run(resetSetting, key);
  }
}
