import type { EventTail } from './access-log-properties.js';
import { postBytes } from './http-connection.js';
import {
  CANARY_CUSTOMER,
  customerOfEvent,
  isCanary,
  loadCustomer,
  minuteOfCanary,
  timestampOfEvent,
  writeEventId,
} from './load-identity.js';

/** How a request is built: which path, how many events, and where it is sent. */
export type RequestShape = {
  readonly path: '/v1/events' | '/v1/events/bulk';
  readonly eventsPerRequest: number;
  readonly host: string;
  readonly apiKey: string;
  /** Sources and properties to draw from. */
  readonly tails: readonly EventTail[];
  /** One of so many events is a duplicate of an earlier one; none when absent. */
  readonly repeatEvery?: number;
  /** Whether some events are watched: of a customer of their own, each in its own minute. */
  readonly hasCanaries?: boolean;
};

/** The number of events with different properties, before the properties repeat. */
const TEXTS = 4_000;
/** Some megabytes for all connections of single events. */
const FORMS_MAX = 64;
/** How far back a repeat reaches: into an earlier batch once there is one, never to a repeat. */
const REPEAT_DISTANCE = 5 * TEXTS + 50;
const REPEAT_DISTANCE_FIRST = 50;

const ID_PLACE = '########-####-####-####-############';
const TIMESTAMP_PLACE = '2026-11-20T12:00:00.000Z';
/** The part of an event's JSON that changes, with a fixed length. */
const HEAD = `{"event_name":"api.request","event_id":"${ID_PLACE}","external_customer_id":"${loadCustomer(0)}","timestamp":"${TIMESTAMP_PLACE}",`;
const ID_AT = HEAD.indexOf(ID_PLACE);
const CUSTOMER_AT = HEAD.indexOf(loadCustomer(0));
const TIMESTAMP_AT = HEAD.indexOf(TIMESTAMP_PLACE);

/** The bytes of one request and where its events begin in them. */
type Form = { readonly bytes: Buffer; readonly events: readonly number[] };

/**
 * Requests that are sent again and again: only ids, customers and times change, in place, since a
 * client that writes its JSON anew would take the server's cores. Properties are drawn from a log,
 * other ones in each of several forms that take turns. One per connection, since a socket may still
 * hold the bytes of the last sending.
 */
export class PreparedRequest {
  readonly #forms: readonly Form[];

  constructor(private readonly shape: RequestShape) {
    const { eventsPerRequest } = shape;
    const forms = Math.max(1, Math.min(FORMS_MAX, Math.floor(TEXTS / eventsPerRequest)));
    this.#forms = Array.from({ length: forms }, (_, form) => this.#createForm(form));
  }

  /** The request with ids counted up from `firstId`. */
  withIds(firstId: number): Buffer {
    const turn = Math.floor(firstId / this.shape.eventsPerRequest) % this.#forms.length;
    const form = this.#forms[turn];
    if (form === undefined) throw new RangeError('a request has at least one form');
    form.events.forEach((start, index) => {
      this.#write(form.bytes, start, firstId + index);
    });
    return form.bytes;
  }

  #createForm(form: number): Form {
    const { path, eventsPerRequest } = this.shape;
    const texts = Array.from(
      { length: eventsPerRequest },
      (_, index) => HEAD + this.#tailOf(form * eventsPerRequest + index),
    );
    const json = path === '/v1/events/bulk' ? `{"events":[${texts.join(',')}]}` : texts[0];
    const bytes = postBytes(this.shape, path, json ?? '');
    const events: number[] = [];
    const mark = HEAD.slice(0, ID_AT + 1);
    for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + HEAD.length)) {
      events.push(at);
    }
    return { bytes, events };
  }

  /** A duplicate has the content of its original. */
  #tailOf(position: number): EventTail {
    const { tails } = this.shape;
    const isRepeat = this.#isRepeat(position) && position >= REPEAT_DISTANCE_FIRST;
    const at = isRepeat ? position - REPEAT_DISTANCE_FIRST : position;
    // Far apart in the log, so that neighbours in a request do not resemble each other.
    return tails[(at * 7_919) % tails.length] ?? '';
  }

  #isRepeat(index: number): boolean {
    const { repeatEvery = Number.POSITIVE_INFINITY } = this.shape;
    return index % repeatEvery === repeatEvery - 1;
  }

  /** A duplicate equals its original. */
  #idOf(index: number): number {
    if (!this.#isRepeat(index)) return index;
    return index - (index > REPEAT_DISTANCE ? REPEAT_DISTANCE : REPEAT_DISTANCE_FIRST);
  }

  #write(bytes: Buffer, start: number, index: number): void {
    const id = this.#idOf(index);
    const isWatched = this.shape.hasCanaries === true && isCanary(id);
    const timestamp = isWatched ? minuteOfCanary(id) : timestampOfEvent(id);
    const customer = isWatched ? CANARY_CUSTOMER : loadCustomer(customerOfEvent(id));
    writeEventId(bytes, start + ID_AT, id);
    bytes.write(customer, start + CUSTOMER_AT, 'latin1');
    bytes.write(new Date(timestamp).toISOString(), start + TIMESTAMP_AT, 'latin1');
  }
}
