import {
  Body,
  Controller,
  Extension,
  Get,
  Post,
  Queries,
  Request,
  Route,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
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
import { accepted } from '../edge/http-failure.js';
import { occasionOf } from '../edge/request-context.js';

@Route('v1/events')
@Tags('Events')
export class EventsController extends Controller {
  constructor(
    private readonly dependencies: EventReadDependencies &
      ConflictReadDependencies &
      MonitoringDependencies,
  ) {
    super();
  }

  /**
   * Newest first unless ordered otherwise. Pages are best read by keys: `iter_last_key` of an
   * answer, sent with the next request, gives what follows, whatever comes in meanwhile.
   * @summary List events
   */
  @Get()
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy' })
  public async listEvents(
    @Request() request: HttpRequest,
    @Queries() query: EventsQuery,
  ): Promise<EventListDto> {
    const occasion = occasionOf(request);
    const page = accepted(await readEvents(this.dependencies, occasion, query));
    return eventsPageToDto(page, occasion.environment.environmentId);
  }

  /**
   * As GET /events, with property filters of any text.
   * @summary Query events
   */
  @Post('query')
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy' })
  public async queryEvents(
    @Request() request: HttpRequest,
    @Body() body: EventsQueryBody,
  ): Promise<EventListDto> {
    const occasion = occasionOf(request);
    const page = accepted(await readEvents(this.dependencies, occasion, body));
    return eventsPageToDto(page, occasion.environment.environmentId);
  }

  /**
   * Duplicates of an event_id that differ from the event that counts, newest first.
   * @summary List conflicts
   */
  @Get('conflicts')
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy' })
  public async listConflicts(
    @Request() request: HttpRequest,
    @Queries() query: EventConflictsQuery,
  ): Promise<EventConflictListDto> {
    const page = accepted(await readEventConflicts(this.dependencies, occasionOf(request), query));
    const { limit, offset, total } = page;
    return { items: page.conflicts.map(conflictToDto), pagination: { limit, offset, total } };
  }

  /**
   * How many events there are by window, and up to when they are visible.
   * @summary Monitor events
   */
  @Get('monitoring')
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy' })
  public async readMonitoring(
    @Request() request: HttpRequest,
    @Queries() query: EventMonitoringQuery,
  ): Promise<EventMonitoringDto> {
    const occasion = occasionOf(request);
    return monitoringToDto(accepted(await readEventMonitoring(this.dependencies, occasion, query)));
  }
}
