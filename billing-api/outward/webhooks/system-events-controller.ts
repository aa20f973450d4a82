import { Controller, Extension, Get, Path, Queries, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import type { ReadDependencies } from '../../records/unit.js';
import {
  listSystemEvents,
  readSystemEvent,
} from '../../webhooks/system-events/read-system-events.js';
import type { SystemEventsQuery } from '../../webhooks/system-events/system-event.js';
import {
  systemEventToDto,
  type SystemEventDto,
  type SystemEventListDto,
} from './system-event-dto.js';

@Route('v1/webhooks/events')
@Tags('Webhooks')
export class SystemEventsController extends Controller {
  constructor(private readonly dependencies: ReadDependencies) {
    super();
  }

  /**
   * What happened to records, in the order of its numbers. Whoever asks again with `next_after`
   * misses nothing and reads nothing twice.
   * @summary List system events
   */
  @Get()
  @Extension('x-operation', { entity: 'webhook', access: 'read' })
  public async listSystemEvents(
    @Request() request: HttpRequest,
    @Queries() query: SystemEventsQuery,
  ): Promise<SystemEventListDto> {
    const events = await listSystemEvents(this.dependencies, occasionOf(request), query);
    const items = events.rows.map(systemEventToDto);
    return { items, next_after: events.nextAfter, has_more: events.hasMore };
  }

  /** @summary Read a system event */
  @Get('{id}')
  @Extension('x-operation', { entity: 'webhook', access: 'read' })
  public async readSystemEvent(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<SystemEventDto> {
    return systemEventToDto(
      accepted(await readSystemEvent(this.dependencies, occasionOf(request), id)),
    );
  }
}
