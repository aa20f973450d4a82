import { Extension, Get, Query, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import { traceToDto, type EventLookupDto } from './event-lookup-dto.js';
import { lookUpEvent, type LookUpDependencies } from './look-up-event.js';

@Route('v1/events/lookup')
@Tags('Events')
export class EventLookupController extends ApiController<LookUpDependencies> {
  /**
   * Whether it is counted or why not, its value on each meter, and the line items that bill it.
   * @summary Look an event up by its id
   * @param id The event_id.
   * @maxLength id 255
   * @minLength id 1
   */
  @Get()
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy', notFound: true })
  public async lookUpEvent(@Query() id: string): Promise<EventLookupDto> {
    return traceToDto(await this.run(lookUpEvent, id), this.occasion.environment.environmentId);
  }
}
