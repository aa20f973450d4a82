import { Body, Extension, Get, Post, Queries, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../edge/api-controller.js';
import { readEventConflicts, type ConflictReadDependencies } from './read-event-conflicts.js';
import { readEventMonitoring, type MonitoringDependencies } from './read-event-monitoring.js';
import { readEvents, type EventReadDependencies } from './read-events.js';
import {
  conflictToDto,
  eventsPageToDto,
  type EventConflictListDto,
  type EventListDto,
  type EventsQueryBody,
} from './event-dto.js';
import {
  monitoringToDto,
  type EventMonitoringDto,
  type EventMonitoringQuery,
} from './event-monitoring-dto.js';
import type { EventConflictsQuery, EventsQuery } from './event-queries.js';

@Route('v1/events')
@Tags('Events')
export class EventsController extends ApiController<
  EventReadDependencies & ConflictReadDependencies & MonitoringDependencies
> {
  /**
   * Newest first unless ordered otherwise. Pages are best read by keys: `iter_last_key` of an
   * answer, sent with the next request, gives what follows, whatever comes in meanwhile.
   * @summary List events
   */
  @Get()
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy' })
  public async listEvents(@Queries() query: EventsQuery): Promise<EventListDto> {
    return eventsPageToDto(
      await this.run(readEvents, query),
      this.occasion.environment.environmentId,
    );
  }

  /**
   * As GET /events, with property filters of any text.
   * @summary Query events
   */
  @Post('query')
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy' })
  public async queryEvents(@Body() body: EventsQueryBody): Promise<EventListDto> {
    return eventsPageToDto(
      await this.run(readEvents, body),
      this.occasion.environment.environmentId,
    );
  }

  /**
   * Duplicates of an event_id that differ from the event that counts, newest first.
   * @summary List conflicts
   */
  @Get('conflicts')
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy' })
  public async listConflicts(@Queries() query: EventConflictsQuery): Promise<EventConflictListDto> {
    const page = await this.run(readEventConflicts, query);
    const { limit, offset, total } = page;
    return { items: page.conflicts.map(conflictToDto), pagination: { limit, offset, total } };
  }

  /**
   * How many events there are by window, and up to when they are visible.
   * @summary Monitor events
   */
  @Get('monitoring')
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy' })
  public async readMonitoring(@Queries() query: EventMonitoringQuery): Promise<EventMonitoringDto> {
    return monitoringToDto(await this.run(readEventMonitoring, query));
  }
}
