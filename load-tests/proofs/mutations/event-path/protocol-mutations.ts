import type { EventPathMutation } from './event-path-mutation.js';

const WRITE = 'dist/aggregator/protocol/write.js';
const PERFORM = 'dist/aggregator/ownership/perform.js';
const WRITER = 'dist/aggregator/write/usage-writer.js';
const CLIENT = 'dist/clickhouse/client.js';
const MARKER = 'dist/aggregator/fold/batch-marker.js';
const ENCODE = 'dist/aggregator/fold/encode-rows.js';

/**
 * Beside a rule that keeps batches from being written twice: that what is there is refused, too
 * (write/insert-statements.ts). The rule must hold without it.
 */
const REPEATS_TAKEN = {
  path: CLIENT,
  from: '`throwIf((${select}) > 0,',
  to: '`throwIf((${select}) < 0,',
} as const;

/** Each mutation breaks one rule of docs/internals/architecture.md 3.1. */
export const PROTOCOL_MUTATIONS: readonly EventPathMutation[] = [
  {
    name: 'finish before the inserts',
    scenario: 'consumer killed between every two steps',
    edits: [
      {
        path: WRITE,
        from: 'halt(checkpoint, batch) : insertAll(checkpoint, batch)',
        to: 'halt(checkpoint, batch) : finish(checkpoint, batch)',
      },
      {
        path: WRITE,
        from: `if (outcome.kind === 'written')
        return remember(checkpoint, batch);`,
        to: `if (outcome.kind === 'written')
        return insertAll(checkpoint, batch);`,
      },
      {
        path: WRITE,
        from: `    if (tables.length === 0)
        return finish(checkpoint, batch);`,
        to: `    if (tables.length === 0)
        return remember(checkpoint, batch);`,
      },
    ],
  },
  {
    name: 'ids looked up without the bound below the batch',
    scenario: 'consumer killed between every two steps',
    edits: [
      {
        path: 'dist/aggregator/write/id-look-ups.js',
        from: ' AND (log_id != {log_id:String} OR ${BELOW})',
        to: '',
      },
      // Otherwise only false positives of the filter would be looked up.
      { path: PERFORM, from: 'filter.perhapsKnown(command.idHashes)', to: 'command.idHashes' },
    ],
  },
  {
    name: 'intent and finish without the guard of the epoch',
    scenario: 'intent of an owner that was replaced',
    edits: ['intend-batches', 'finish-batches'].map((query) => ({
      path: `sql/queries/${query}.sql`,
      from: 'AND c.epoch = batch.epoch',
      to: 'AND c.epoch >= batch.epoch',
    })),
  },
  {
    name: 'inserts that do not ask the gate: a paused owner wakes',
    scenario: 'owner paused before insert usage',
    edits: [
      {
        path: 'dist/aggregator/write/insert-statements.js',
        from: 'WHERE throwIf((SELECT',
        to: 'WHERE throwIf(0 AND (SELECT',
      },
      REPEATS_TAKEN,
    ],
  },
  {
    name: 'inserts that do not ask the gate: a request lands late',
    scenario: 'insert that lands after its sender gave up',
    edits: [
      {
        path: 'dist/aggregator/write/insert-statements.js',
        from: 'WHERE throwIf((SELECT',
        to: 'WHERE throwIf(0 AND (SELECT',
      },
      REPEATS_TAKEN,
    ],
  },
  {
    name: 'no drain',
    scenario: 'insert that runs when its owner gives up',
    edits: [
      {
        path: WRITER,
        from: `    async drain() {
`,
        to: `    async drain() {
        return;
`,
      },
    ],
  },
  {
    name: 'recovery that does not ask what is there',
    scenario: 'consumer killed between every two steps',
    edits: [
      {
        path: PERFORM,
        from: 'presence: await writer.presence(range, appendedAtMs)',
        to: 'presence: { events: 0, ids: 0, marker: 0 }',
      },
      REPEATS_TAKEN,
    ],
  },
  {
    name: 'an insert of unknown outcome is sent again',
    scenario: 'insert whose reply is lost',
    edits: [
      {
        path: WRITE,
        from: `            // It may still take effect: an insert is sent once per epoch.
            return FIRST_STEP;`,
        to: `            return insertNext(state.checkpoint, state.batch, state.remaining);`,
      },
      REPEATS_TAKEN,
    ],
  },
  {
    name: 'start offsets = next_offset, whatever the intent says',
    scenario: 'meter activated between an intent and its inserts',
    edits: [
      {
        path: 'sql/functions',
        from: 'definition_version, log, partition, coalesce(intent_end, next_offset)',
        to: 'definition_version, log, partition, next_offset',
      },
    ],
  },
  {
    name: 'an intent with an older catalog than the start offsets rely on',
    scenario: 'meter activated before an intent',
    edits: [
      {
        path: 'sql/queries/intend-batches.sql',
        from: ' AND c.min_version <= batch.catalog_version AND c.catalog_version <= batch.catalog_version',
        to: '',
      },
    ],
  },
  {
    name: 'a refused batch is intended again with the rows of the older catalog',
    scenario: 'meter activated before an intent',
    edits: [
      {
        path: 'dist/aggregator/protocol/prepare.js',
        from: 'withCatalog(settings, prepared, catalog),',
        to: 'withCatalog(settings, prepared, { ...catalog, meters: prepared.draft.catalog.meters }),',
      },
    ],
  },
  {
    name: 'the marker is not written',
    scenario: 'consumer killed between every two steps',
    edits: [{ path: ENCODE, from: ', markerRow(range)', to: '' }],
  },
  {
    name: 'a batch whose usage is written is taken for missing, since its marker has merged',
    scenario: 'consumer killed between every two steps',
    edits: [
      { path: MARKER, from: 'if (end <= range.start)', to: 'if (end <= range.end)' },
      REPEATS_TAKEN,
    ],
  },
  {
    name: 'a batch without usage is taken for written, since earlier batches have markers',
    scenario: 'consumer killed between every two steps',
    edits: [
      { path: MARKER, from: 'if (end <= range.start)', to: 'if (end <= 0)' },
      { path: MARKER, from: 'if (end < range.end)', to: 'if (end < 0)' },
    ],
  },
  {
    // Each batch alone is told right; the sum of the first two is not.
    name: 'a marker that counts one offset, whatever its batch has',
    scenario: 'consumer killed between every two steps',
    edits: [{ path: MARKER, from: 'eventCount: range.end - range.start', to: 'eventCount: 1' }],
  },
  {
    // Held three times: what was not cut would not be completed, nor sent.
    name: 'batches that are not cut by rows, and inserts whose rows nobody counts',
    scenario: 'consumer killed in the middle of its insert of usage',
    edits: [
      {
        path: 'dist/aggregator/fold/cut-batch.js',
        from: ' || Math.max(events, usageRows) > rowsMax',
        to: '',
      },
      {
        path: 'dist/aggregator/protocol/build-batch.js',
        from: 'rows > insertRowsMax || ',
        to: '',
      },
      { path: CLIENT, from: 'rows <= this.blockRowsMax', to: 'rows >= 0' },
    ],
  },
  {
    // At the size of real blocks, where the characters of the rows would cut the batch as well. The
    // first read of Kafka returns a part of what is there, and the insert that is cut is smaller.
    name: 'batches that are cut neither by rows nor by characters, of more than a real block',
    scenario: 'consumer killed in the middle of its insert of usage',
    isLong: true,
    onlyOn: 'postgres',
    edits: [
      {
        path: 'dist/aggregator/fold/cut-batch.js',
        from: ' || Math.max(events, usageRows) > rowsMax',
        to: '',
      },
      {
        path: 'dist/aggregator/fold/cut-batch.js',
        from: 'isFull || characters > charactersMax || isNextDay',
        to: 'isFull || isNextDay',
      },
      {
        path: 'dist/aggregator/protocol/build-batch.js',
        from: 'rows > insertRowsMax || charactersOfDeltas(deltas) > insertCharactersMax',
        to: 'rows < 0',
      },
      { path: CLIENT, from: 'rows <= this.blockRowsMax', to: 'rows >= 0' },
    ],
  },
  {
    name: 'ids remembered before the write',
    scenario: 'consumer that failed to write has not seen the ids',
    edits: [
      {
        path: PERFORM,
        from: `    const seen = await lookUps.find({ partition, idHashes, below, appendedAtMs });
    return { kind: 'looked_up', seen };`,
        to: `    const seen = new Map(await lookUps.find({ partition, idHashes, below, appendedAtMs }));
    const stored = { payloadHash: '', timestampMs: 0, isTimestampGiven: false };
    globalThis.remembered ??= new Set();
    for (const id of command.idHashes) {
        if (globalThis.remembered.has(id)) seen.set(id, stored);
        globalThis.remembered.add(id);
    }
    return { kind: 'looked_up', seen };`,
      },
    ],
  },
];
