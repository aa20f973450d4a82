import { Extension, Get, Path, Queries, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
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
export class SystemEventsController extends ApiController<ReadDependencies> {
  /**
   * What happened to records, in the order of its numbers. Whoever asks again with `next_after`
   * misses nothing and reads nothing twice.
   * @summary List system events
   */
  @Get()
  @Extension('x-operation', { entity: 'webhook', access: 'read' })
  public async listSystemEvents(@Queries() query: SystemEventsQuery): Promise<SystemEventListDto> {
    const events = await this.run(listSystemEvents, query);
    const items = events.rows.map(systemEventToDto);
    return { items, next_after: events.nextAfter, has_more: events.hasMore };
  }

  /** @summary Read a system event */
  @Get('{id}')
  @Extension('x-operation', { entity: 'webhook', access: 'read' })
  public async readSystemEvent(@Path() id: string): Promise<SystemEventDto> {
    return systemEventToDto(await this.run(readSystemEvent, id));
  }
}
