import type { EventDto } from '../../../billing-api/events/event-dto.js';

/** An event as the interface lists it. */
export function sampleEvent(differing: Partial<EventDto> = {}): EventDto {
  return {
    id: 'call-1',
    external_customer_id: 'acme',
    customer_id: null,
    event_name: 'api_call',
    timestamp: '2026-01-01T12:00:00.000Z',
    received_at: '2026-01-01T12:00:01.000Z',
    source: '',
    properties: {},
    environment_id: 'env_1',
    ...differing,
  };
}
