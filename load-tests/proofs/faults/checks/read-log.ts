import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { EventLogReader } from '../../../../event-log/interface/event-log.js';
import { DependencyError } from '../../../../runtime/failure.js';
import { identityOf } from '../load/ledger.js';
import { ENVIRONMENTS } from '../load/usage-meter.js';

/** One record; read here from its JSON and not with the product's decoder. */
const record = z.object({
  v: z.literal(1),
  e: z.string(),
  r: z.number(),
  events: z.array(
    z.tuple([
      z.string(),
      z.string(),
      z.string().nullable(),
      z.string().nullable(),
      z.string(),
      z.number(),
      z.number(),
      z.record(z.string()),
    ]),
  ),
});

/** The value of a record: one, or several that Kafka got as one. */
const recordsOfValue = z.union([
  record.transform((one) => [one]),
  z.object({ v: z.literal(2), parts: z.array(record) }).transform(({ parts }) => parts),
]);

/** What one occurrence of an event in the log says, as a text that is equal for equal events. */
export type EventText = string;

export type Occurrence = { readonly text: EventText; readonly receivedAtMs: number };

/** Whether an occurrence of an id says something else than the first one. */
export function isConflict(found: Occurrence, [first]: readonly Occurrence[]): boolean {
  return found.text !== first?.text;
}

/** A record that is none of an event, where it stands and what it holds. */
export type MalformedRecord = {
  readonly partition: number;
  readonly offset: number;
  readonly value: string;
};

/** The whole log. */
export type LogContent = {
  /** The occurrences of each identity, in the order of the log. */
  readonly events: ReadonlyMap<string, readonly Occurrence[]>;
  readonly malformed: readonly MalformedRecord[];
};

/** The text under which two events are the same: everything but the id, properties in order. */
export function eventTextOf(event: {
  readonly name: string;
  readonly external: string | null;
  readonly internal: string | null;
  readonly source: string;
  readonly timestampMs: number;
  readonly properties: Readonly<Record<string, string>>;
}): EventText {
  const { name, external, internal, source, timestampMs, properties } = event;
  const sorted = Object.entries(properties).sort();
  return JSON.stringify([name, external, internal, source, timestampMs, sorted]);
}

const RECORDS_MAX = 5_000;
const BYTES_MAX = 32 * 1024 * 1024;
const ATTEMPTS = 120;
const ATTEMPT_PAUSE_MS = 500;

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}

type Gathered = {
  readonly events: Map<string, Occurrence[]>;
  readonly malformed: MalformedRecord[];
};

function noteRecord(content: Gathered, data: z.output<typeof record>): void {
  const environment = ENVIRONMENTS.findIndex((known) => known.environmentId === data.e);
  for (const [id, name, external, internal, source, timestampMs, , properties] of data.events) {
    const identity = identityOf(environment, id);
    const text = eventTextOf({ name, external, internal, source, timestampMs, properties });
    const occurrence = { text, receivedAtMs: data.r };
    const known = content.events.get(identity);
    if (known === undefined) content.events.set(identity, [occurrence]);
    else known.push(occurrence);
  }
}

/** Of a bulk request; a record with more is not ours (docs/internals/architecture.md 3.4). */
const EVENTS_OF_RECORD_MAX = 1_000;

function note(content: Gathered, found: MalformedRecord): void {
  const { success, data } = recordsOfValue.safeParse(parsed(found.value));
  const events = data?.reduce((sum, one) => sum + one.events.length, 0) ?? 0;
  if (!success || events > EVENTS_OF_RECORD_MAX) {
    content.malformed.push(found);
    return;
  }
  for (const one of data) noteRecord(content, one);
}

/** A broker that has just been killed answers after some seconds: what fails is asked again. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      const isTemporary = error instanceof DependencyError && error.isRetryable;
      if (!isTemporary || attempt === ATTEMPTS) throw error;
      await delay(ATTEMPT_PAUSE_MS);
    }
  }
}

/** Reads every record of every partition. @throws DependencyError. */
export async function readLog(reader: EventLogReader): Promise<LogContent> {
  const content: Gathered = { events: new Map(), malformed: [] };
  for (let partition = 0; partition < reader.identity.partitionCount; partition += 1) {
    const { startOffset, endOffset } = await patiently(() => reader.bounds(partition));
    let fromOffset = startOffset;
    while (fromOffset < endOffset) {
      const at = { partition, fromOffset, recordsMax: RECORDS_MAX, bytesMax: BYTES_MAX };
      const records = await patiently(() => reader.read({ ...at, waitMs: 500 }));
      for (const { offset, value } of records) note(content, { partition, offset, value });
      fromOffset = (records.at(-1)?.offset ?? fromOffset - 1) + 1;
    }
  }
  return content;
}
