import {
  Controller,
  Extension,
  Get,
  Path,
  Post,
  Queries,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import {
  SCHEDULES,
  scheduleToDto,
  type ScheduleDto,
  type ScheduleListDto,
  type CancelledScheduleDto,
} from '../../declarations/subscriptions/schedule.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions, tagReadVersion } from '../../edge/versions.js';
import { isEqual } from '../../records/conditions.js';
import { readRecord } from '../../records/find-record.js';
import { listRequestFrom } from '../../records/list-request.js';
import type { PageRequest } from '../../records/record-dto.js';
import { pageToDto, searchRecords } from '../../records/search-records.js';
import { readUnit, type WriteDependencies } from '../../records/unit.js';
import { cancelSchedule } from './cancel-schedule.js';

@Route('v1/subscriptions')
@Tags('Subscriptions')
export class SchedulesController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * A change that is to come, was made, could not be made, or was cancelled.
   * @summary Read a schedule
   */
  @Get('schedules/{id}')
  @Extension('x-operation', { entity: 'subscription', access: 'read', versioned: true })
  public async readSchedule(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<ScheduleDto> {
    const row = accepted(
      await readUnit(this.dependencies, occasionOf(request), (unit) =>
        readRecord(unit, SCHEDULES, id),
      ),
    );
    tagReadVersion(this, request, row.version);
    return scheduleToDto(row);
  }

  /**
   * What was to come does not: the subscription goes on as it was before it was asked for.
   * @summary Cancel a schedule
   */
  @Post('schedules/{id}/cancel')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', { entity: 'subscription', access: 'write' })
  public async cancelSchedule(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<CancelledScheduleDto> {
    const target = { id, isExpected: expectedVersions(request) };
    const row = accepted(await cancelSchedule(this.dependencies, occasionOf(request), target));
    return { ...scheduleToDto(row), message: `schedule ${id} is cancelled` };
  }

  /**
   * Changes of the subscription that are to come, were made, or were cancelled; newest first.
   * @summary List the schedules of a subscription
   */
  @Get('{id}/schedules')
  @Extension('x-operation', { entity: 'subscription', access: 'read' })
  public async listSchedules(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Queries() query: PageRequest,
  ): Promise<ScheduleListDto> {
    const found = await readUnit(this.dependencies, occasionOf(request), async (unit) => {
      await readRecord(unit, SUBSCRIPTIONS, id);
      const conditions = isEqual('subscription_id', id);
      return searchRecords(unit, SCHEDULES, { request: listRequestFrom(query), conditions });
    });
    const page = await pageToDto(accepted(found), scheduleToDto);
    return { ...page, schedules: page.items, count: page.items.length };
  }
}
