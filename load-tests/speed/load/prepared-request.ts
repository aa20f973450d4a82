/** How a request is built: which path, how many events, and where it is sent. */
export type RequestShape = {
  readonly path: '/v1/events' | '/v1/events/bulk';
  readonly eventsPerRequest: number;
  readonly host: string;
  readonly apiKey: string;
  /** Every so manyth event repeats an earlier id; absent: none does. */
  readonly repeatEvery?: number;
};

const ID_DIGITS = 14;
const ID_PLACE = '#'.repeat(ID_DIGITS);
const CUSTOMER_PLACE = '@'.repeat(5);
const MINUTE_PLACE = '%%';
/** Events of this many different customers; the first of them is 0. */
export const LOAD_CUSTOMERS = 10_000;
/** Time goes on by a minute every so many events, round an hour. */
const EVENTS_PER_MINUTE = 100_000;
/** How far back a repeat reaches: into an earlier batch once there is one, never to a repeat. */
const REPEAT_DISTANCE = 20_050;
const REPEAT_DISTANCE_FIRST = 50;

/** Every so manyth event is of one of the customers whose names come first. */
export const CANARY_EVERY = 50;

/**
 * The customer of the event with this id, below LOAD_CUSTOMERS: a number for each, and those of the
 * canaries (`CANARY_EVERY`) next to each other, so that asking for them reads one place of a table.
 */
export function loadCustomer(index: number): string {
  const canaries = LOAD_CUSTOMERS / CANARY_EVERY;
  const number = (index % CANARY_EVERY) * canaries + Math.floor(index / CANARY_EVERY);
  return `customer-${String(number).padStart(CUSTOMER_PLACE.length, '0')}`;
}

/** Like a line of an access log: four texts and three numbers, one of them with a trailing zero. */
function eventText(index: number): string {
  const properties = {
    method: 'GET',
    route: '/v1/things/:id',
    region: index % 2 === 0 ? 'eu-west-1' : 'us-east-1',
    status: 200,
    bytes: 1000 + ((index * 7919) % 90_000),
    cached: index % 3 === 0,
  };
  const text = JSON.stringify({
    event_name: 'api.request',
    event_id: `load-${ID_PLACE}`,
    external_customer_id: `customer-${CUSTOMER_PLACE}`,
    timestamp: `2026-11-20T12:${MINUTE_PLACE}:00.000Z`,
    source: 'gateway',
    properties,
  });
  return text.replace(/}}$/, ',"seconds":0.250}}');
}

function placesOf(bytes: Buffer, text: string): readonly number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + text.length)) {
    places.push(at);
  }
  return places;
}

/**
 * The bytes of one request that is sent again and again: only the digits of its event ids, their
 * customers and minutes change, in place. One per connection, since a socket may still hold the
 * bytes of the last sending.
 */
export class PreparedRequest {
  readonly #bytes: Buffer;
  readonly #ids: readonly number[];
  readonly #customers: readonly number[];
  readonly #minutes: readonly number[];

  constructor(private readonly shape: RequestShape) {
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
    this.#ids = placesOf(this.#bytes, ID_PLACE);
    this.#customers = placesOf(this.#bytes, CUSTOMER_PLACE);
    this.#minutes = placesOf(this.#bytes, MINUTE_PLACE);
  }

  /** A repeat is an earlier event as it was. */
  #idOf(next: number): number {
    const { repeatEvery = Number.POSITIVE_INFINITY } = this.shape;
    if (next % repeatEvery !== repeatEvery - 1) return next;
    return next - (next > REPEAT_DISTANCE ? REPEAT_DISTANCE : REPEAT_DISTANCE_FIRST);
  }

  /** The request with ids counted up from `firstId`. */
  withIds(firstId: number): Buffer {
    this.#ids.forEach((place, index) => {
      const id = this.#idOf(firstId + index);
      const minute = Math.floor(id / EVENTS_PER_MINUTE) % 60;
      this.#write(String(id).padStart(ID_DIGITS, '0'), place);
      this.#write(
        loadCustomer(id % LOAD_CUSTOMERS).slice(-CUSTOMER_PLACE.length),
        this.#customers[index],
      );
      this.#write(String(minute).padStart(MINUTE_PLACE.length, '0'), this.#minutes[index]);
    });
    return this.#bytes;
  }

  #write(digits: string, place = 0): void {
    this.#bytes.write(digits, place, 'latin1');
  }
}
