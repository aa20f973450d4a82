import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Queries,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
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
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { pageToDto } from '../../records/search-records.js';
import { listRequestFrom } from '../../records/list-request.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../../edge/versions.js';
import type { WriteDependencies } from '../../records/unit.js';

@Route('v1/meters')
@Tags('Meters')
export class MetersController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * A meter counts all events, also those that came before it: they show, all at once, when
   * `backfill` is completed.
   * @summary Create a meter
   */
  @Post()
  @Extension('x-operation', { entity: 'meter', access: 'write', versioned: true })
  @SuccessResponse(201, 'Created')
  public async createMeter(
    @Request() request: HttpRequest,
    @Body() body: CreateMeterBody,
  ): Promise<MeterDto> {
    const meter = accepted(await createMeter(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    tagVersion(this, meter.record_version);
    return meterToDto(meter);
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List meters
   */
  @Get()
  @Extension('x-operation', { entity: 'meter', access: 'read' })
  public async listMeters(
    @Request() request: HttpRequest,
    @Queries() query: MetersQuery,
  ): Promise<MeterListDto> {
    const list = { ...listRequestFrom(query), event_name: query.event_name };
    const page = accepted(await listMeters(this.dependencies, occasionOf(request), list));
    return pageToDto(page, meterToDto);
  }

  /** @summary Read a meter */
  @Get('{id}')
  @Extension('x-operation', { entity: 'meter', access: 'read', versioned: true })
  public async readMeter(@Request() request: HttpRequest, @Path() id: string): Promise<MeterDto> {
    const meter = accepted(await readMeter(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, meter.record_version);
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
  public async changeMeter(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeMeterBody,
  ): Promise<MeterDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const meter = accepted(await changeMeter(this.dependencies, occasionOf(request), change));
    tagVersion(this, meter.record_version);
    return meterToDto(meter);
  }

  /**
   * An archived meter counts nothing more and keeps what it has counted.
   * @summary Archive a meter
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'meter', access: 'write' })
  public async archiveMeter(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<MessageDto> {
    accepted(await archiveMeter(this.dependencies, occasionOf(request), id));
    return { message: `meter ${id} is archived` };
  }
}
