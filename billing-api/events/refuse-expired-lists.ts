import type { ClickHouseQueries } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import { formatInstant } from '../../contract/instant.js';
import { Refusal, Refused } from '../records/refusal.js';
import type { ExpiredEvents } from '../usage/expired/expired-events.js';
import { findEventPositions } from './event-positions.js';
import type { CountEventSlots } from './event-slots.js';
import type { EventQuery, EventStore } from './events-store.js';

/** Why an event cannot be shown although its id counted; null when that is not so. */
export type FindRemovedEvent = (environment: Environment, id: string) => Promise<Refusal | null>;

/** @param clickHouse where ids are kept for ever. */
export function createRemovedEventFinder(
  clickHouse: ClickHouseQueries,
  { readBegin }: Pick<ExpiredEvents, 'readBegin'>,
): FindRemovedEvent {
  return async (environment, id) => {
    const beginMs = await readBegin();
    if (beginMs === null) return null;
    const position = (await findEventPositions(clickHouse, environment, [id])).get(id);
    if (position === undefined || position.appendedAtMs >= beginMs) return null;
    return new Refusal(
      'not_found',
      `an event with this id was appended to the log at ${formatInstant(position.appendedAtMs)}; ` +
        `raw events that were appended before ${formatInstant(beginMs)} have been removed. ` +
        'Its id still bars duplicates',
    );
  };
}

/**
 * An event store that refuses lists and counts of which retention has removed events, and says of
 * one event that it was removed. @throws Refused.
 */
export function refuseExpiredLists(
  events: EventStore,
  { assertStored }: Pick<ExpiredEvents, 'assertStored'>,
  findRemoved: FindRemovedEvent,
): EventStore {
  const assertListed = async (question: EventQuery): Promise<void> => {
    const { environment, eventName, eventId, window } = question;
    if (eventId === null) return assertStored(environment, [{ eventName, range: window }]);
    const refusal = await findRemoved(environment, eventId);
    if (refusal !== null) throw new Refused(new Refusal('invalid_operation', refusal.message));
  };
  return {
    ...events,
    list: async (question, cut) => {
      await assertListed(question);
      return events.list(question, cut);
    },
    count: async (question) => {
      await assertListed(question);
      return events.count(question);
    },
  };
}

/** The same for the number of events by slot of time. */
export function refuseExpiredSlots(
  countSlots: CountEventSlots,
  { assertStored }: Pick<ExpiredEvents, 'assertStored'>,
): CountEventSlots {
  return async (environment, wish) => {
    await assertStored(environment, [{ eventName: null, range: wish.window }]);
    return countSlots(environment, wish);
  };
}
