import {
  Body,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Queries,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import { changeMeter, createMeter } from './define-meter.js';
import { archiveMeter, listMeters, readMeter } from './meter-operations.js';
import type { MessageDto } from '../../records/record-dto.js';
import {
  meterToDto,
  type ChangeMeterBody,
  type CreateMeterBody,
  type MeterDto,
  type MeterListDto,
  type MetersQuery,
} from '../../declarations/catalog/meter.resource.js';
import { pageToDto } from '../../records/search-records.js';
import { listRequestFrom } from '../../records/list-request.js';
import { ApiController } from '../../edge/api-controller.js';
import { tagReadVersion, tagVersion } from '../../edge/versions.js';
import type { WriteDependencies } from '../../records/unit.js';

@Route('v1/meters')
@Tags('Meters')
export class MetersController extends ApiController<WriteDependencies> {
  /**
   * A meter counts all events, also those that came before it: they show, all at once, when
   * `backfill` is completed.
   * @summary Create a meter
   */
  @Post()
  @Extension('x-operation', { entity: 'meter', access: 'write', versioned: true })
  @SuccessResponse(201, 'Created')
  public async createMeter(@Body() body: CreateMeterBody): Promise<MeterDto> {
    const meter = await this.run(createMeter, body);
    tagVersion(this, meter.record_version);
    return meterToDto(meter);
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List meters
   */
  @Get()
  @Extension('x-operation', { entity: 'meter', access: 'read' })
  public async listMeters(@Queries() query: MetersQuery): Promise<MeterListDto> {
    return pageToDto(
      await this.run(listMeters, { ...listRequestFrom(query), event_name: query.event_name }),
      meterToDto,
    );
  }

  /** @summary Read a meter */
  @Get('{id}')
  @Extension('x-operation', { entity: 'meter', access: 'read', versioned: true })
  public async readMeter(@Path() id: string): Promise<MeterDto> {
    const meter = await this.run(readMeter, id);
    tagReadVersion(this, this.request, meter.record_version);
    return meterToDto(meter);
  }

  /**
   * Other filters make a new version, which is applied to all stored events. Until that is done
   * (`backfill`) usage is answered by the previous version; then every reader switches at one
   * instant. Taking a change back shows at once while the earlier version is still counted: that of
   * the last change is for a week, unless the server is set otherwise.
   * @summary Change a meter
   */
  @Put('{id}')
  @Extension('x-operation', { entity: 'meter', access: 'write', versioned: true })
  public async changeMeter(@Path() id: string, @Body() body: ChangeMeterBody): Promise<MeterDto> {
    const meter = await this.run(changeMeter, this.changeOf(id, body));
    tagVersion(this, meter.record_version);
    return meterToDto(meter);
  }

  /**
   * An archived meter counts nothing more and keeps what it has counted.
   * @summary Archive a meter
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'meter', access: 'write' })
  public async archiveMeter(@Path() id: string): Promise<MessageDto> {
    await this.run(archiveMeter, id);
    return { message: `meter ${id} is archived` };
  }
}
