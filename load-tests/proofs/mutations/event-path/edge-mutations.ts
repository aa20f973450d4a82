import type { EventPathMutation } from './event-path-mutation.js';

const PERFORM = 'dist/aggregator/ownership/perform.js';

/** Mistakes of other products that their users have reported. */
export const EDGE_MUTATIONS: readonly EventPathMutation[] = [
  {
    name: '202 before the ack',
    scenario: 'kills ingest after the answer',
    edits: [
      {
        path: 'dist/ingest/http/answer-events.js',
        from: 'await produce({ records, receivedAtMs }, call.lease);',
        to: 'void produce({ records, receivedAtMs }, call.lease).catch(() => undefined);',
      },
    ],
  },
  {
    name: 'the timestamp belongs to the identity',
    scenario: 'same id with another timestamp',
    edits: [
      {
        path: 'dist/aggregator/fold/candidate.js',
        from: 'hashText(eventKey(environment, event.eventId))',
        to: 'hashText(eventKey(environment, event.eventId) + event.timestampMs)',
      },
    ],
  },
  {
    name: 'known ids live in memory only',
    scenario: 'the id filter dies with its process',
    edits: [
      {
        path: PERFORM,
        from: 'const seen = await lookUps.find({ partition, idHashes, below, appendedAtMs });',
        to: 'const seen = new Map(idHashes.flatMap((id) => globalThis.known?.get(id) ?? []));',
      },
      {
        path: PERFORM,
        from: '    filter.remember(',
        to: `    globalThis.known ??= new Map();
    const first = { payloadHash: '', timestampMs: 0, isTimestampGiven: false };
    for (const id of batch.summary.idHashes) globalThis.known.set(id, [[id, first]]);
    filter.remember(`,
      },
    ],
  },
  {
    name: 'a first start begins at the end of the log',
    scenario: "events sent before the consumer's very first start",
    edits: [
      {
        path: 'dist/aggregator/aggregator.js',
        from: 'bounds.map(({ startOffset }) => startOffset)',
        to: 'bounds.map(({ endOffset }) => endOffset)',
      },
    ],
  },
  {
    name: 'events from the future are left out',
    scenario: 'event dated two hours ahead',
    edits: [
      {
        path: 'dist/aggregator/fold/candidate.js',
        from: 'return events.map((event, position) =>',
        to: 'return events.filter((event) => event.timestampMs <= appendedAtMs).map((event, position) =>',
      },
    ],
  },
  {
    name: 'meters are read every two minutes',
    scenario: 'new meter applied within two seconds',
    edits: [
      {
        path: 'dist/aggregator/gather/newest-version.js',
        from: 'now() - latest.readAtMs > POLL_MS || latest.version < versionMin',
        to: 'now() - latest.readAtMs > 120_000',
      },
      {
        path: 'dist/aggregator/gather/newest-version.js',
        from: `refused the intent.
            if (latest.version < versionMin)`,
        to: `refused the intent.
            if (latest.version < 0)`,
      },
      // A batch that is refused twice would read the newest catalog, too.
      {
        path: 'dist/aggregator/protocol/write.js',
        from: 'isToBeHeld: wasRefused',
        to: 'isToBeHeld: false',
      },
    ],
  },
  {
    name: 'a batch holds one event',
    scenario: 'no insert per event',
    edits: [
      {
        path: 'dist/aggregator/fold/cut-batch.js',
        from: 'events > eventsMax',
        to: 'events > 1',
      },
    ],
  },
  {
    name: 'a batch holds twelve events',
    scenario: '12 messages a second by default',
    edits: [
      {
        path: 'dist/aggregator/fold/cut-batch.js',
        from: 'events > eventsMax',
        to: 'events > 12',
      },
    ],
  },
];
