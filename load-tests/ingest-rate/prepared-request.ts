/** How a request is built: which path, how many events, and where it is sent. */
export type RequestShape = {
  readonly path: '/v1/events' | '/v1/events/bulk';
  readonly eventsPerRequest: number;
  readonly host: string;
  readonly apiKey: string;
};

const ID_DIGITS = 14;
const ID_PLACE = '#'.repeat(ID_DIGITS);

/** Like a line of an access log: four texts and three numbers, one of them with a trailing zero. */
function eventText(index: number): string {
  const properties = {
    method: 'GET',
    route: '/v1/things/:id',
    region: 'eu-west-1',
    status: 200,
    bytes: 1000 + ((index * 7919) % 90_000),
    cached: index % 3 === 0,
  };
  const text = JSON.stringify({
    event_name: 'api.request',
    event_id: `load-${ID_PLACE}`,
    external_customer_id: `customer-${String(index % 1000).padStart(4, '0')}`,
    timestamp: '2026-11-20T12:00:00.000Z',
    source: 'gateway',
    properties,
  });
  return text.replace(/}}$/, ',"seconds":0.250}}');
}

/**
 * The bytes of one request that is sent again and again: only the digits of its event ids change,
 * in place. One per connection, since a socket may still hold the bytes of the last sending.
 */
export class PreparedRequest {
  readonly #bytes: Buffer;
  readonly #places: readonly number[];

  constructor(shape: RequestShape) {
    const events = Array.from({ length: shape.eventsPerRequest }, (_, index) => eventText(index));
    const isBulk = shape.path === '/v1/events/bulk';
    const body = isBulk ? `{"events":[${events.join(',')}]}` : (events[0] ?? '');
    const head = [
      `POST ${shape.path} HTTP/1.1`,
      `Host: ${shape.host}`,
      `x-api-key: ${shape.apiKey}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    this.#bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
    const places: number[] = [];
    for (let at = this.#bytes.indexOf(ID_PLACE); at !== -1;) {
      places.push(at);
      at = this.#bytes.indexOf(ID_PLACE, at + ID_DIGITS);
    }
    this.#places = places;
  }

  /** The request with ids counted up from `firstId`. */
  withIds(firstId: number): Buffer {
    this.#places.forEach((place, index) => {
      this.#bytes.write(String(firstId + index).padStart(ID_DIGITS, '0'), place, 'latin1');
    });
    return this.#bytes;
  }
}
