import { Controller, Extension, Get, Query, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { traceToDto, type EventLookupDto } from './event-lookup-dto.js';
import { lookUpEvent, type LookUpDependencies } from './look-up-event.js';

@Route('v1/events/lookup')
@Tags('Events')
export class EventLookupController extends Controller {
  constructor(private readonly dependencies: LookUpDependencies) {
    super();
  }

  /**
   * Whether it is counted or why not, its value on each meter, and the line items that bill it.
   * @summary Look an event up by its id
   * @param id The event_id.
   * @maxLength id 255
   * @minLength id 1
   */
  @Get()
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy', notFound: true })
  public async lookUpEvent(
    @Request() request: HttpRequest,
    @Query() id: string,
  ): Promise<EventLookupDto> {
    const occasion = occasionOf(request);
    const trace = accepted(await lookUpEvent(this.dependencies, occasion, id));
    return traceToDto(trace, occasion.environment.environmentId);
  }
}
