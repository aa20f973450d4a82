import { describe, expect, it } from 'vitest';
import { encodeEventRecord } from '../../contract/usage-event.js';
import { decodeRecord } from '../fold/candidate.js';
import { digestParts } from '../fold/encode-rows.js';
import { FOLD_VERSION } from '../fold/fold-version.js';
import { after, checkpoint, EVENT, plainText, settings } from '../testing/protocol-steps.js';
import type { Checkpoint, Outcome, Step } from './state.js';
import { FIRST_STEP } from './steps.js';

const ENVIRONMENT = { tenantId: 't', environmentId: 'e' };

/** A take of a partition with this row whose inspection finds no contradiction. */
function taken(row: Checkpoint): readonly Outcome[] {
  const inspection = {
    rowsBeyond: 0,
    lastBatch: null,
    rawEventsBeginMs: null,
    logStart: 0,
    logEnd: 9,
  };
  return [
    { kind: 'taken', checkpoint: row },
    { kind: 'gate_raised', highestEpoch: 1 },
    { kind: 'drained' },
    { kind: 'inspected', inspection },
  ];
}

describe('the inserts of a batch', () => {
  const events = ['a', 'b', 'a'].map((eventId) => ({ ...EVENT, eventId }));
  const value = encodeEventRecord({ environment: ENVIRONMENT, receivedAtMs: 0, events });
  const records = [decodeRecord({ offset: 0, appendedAtMs: 0, value }, plainText)];
  const catalog = { version: 1, meters: new Map() };
  const intended: readonly Outcome[] = [
    ...taken(checkpoint),
    { kind: 'filter_warm' },
    { kind: 'fetched', records, catalog },
    { kind: 'looked_up', seen: new Map() },
    { kind: 'written' },
  ];
  const INSERTED: Outcome = { kind: 'inserted' };

  /** The tables that are written side by side; the other command when it is no insert. */
  function tablesOf({ command }: Step): readonly string[] | string {
    return command.kind === 'insert' ? command.tables : command.kind;
  }

  it('write ids and usage only after the events, side by side', () => {
    expect(tablesOf(after(...intended))).toEqual(['events', 'duplicates']);
    expect(tablesOf(after(...intended, INSERTED))).toEqual(['ids', 'usage']);
    expect(tablesOf(after(...intended, INSERTED, INSERTED))).toBe('finish');
  });

  // The reconciliation takes a batch whose usage is there for one whose events and duplicates are
  // stored, and a batch of a replaced log is completed from its events.
  it('write dead letters with the events as well', () => {
    const undecodable = decodeRecord({ offset: 1, appendedAtMs: 0, value: '{' }, plainText);
    const withLetter = intended.map((outcome) =>
      outcome.kind === 'fetched' ? { ...outcome, records: [...records, undecodable] } : outcome,
    );
    expect(tablesOf(after(...withLetter))).toEqual(['events', 'duplicates', 'deadLetters']);
    expect(tablesOf(after(...withLetter, INSERTED))).toEqual(['ids', 'usage']);
    expect(tablesOf(after(...withLetter, INSERTED, INSERTED))).toBe('finish');
  });

  it.each([
    [
      'nothing',
      { events: 0, ids: 0, marker: 0 },
      [
        ['events', 'duplicates'],
        ['ids', 'usage'],
      ],
    ],
    ['the events', { events: 2, ids: 0, marker: 0 }, [['duplicates'], ['ids', 'usage']]],
    ['events and usage', { events: 2, ids: 0, marker: 1 }, [['duplicates'], ['ids']]],
    ['events and ids', { events: 2, ids: 2, marker: 0 }, [['duplicates'], ['usage']]],
    ['all that is counted', { events: 2, ids: 2, marker: 1 }, [['duplicates']]],
  ])('are those that a recovery misses when it finds %s', (_, presence, stages) => {
    const { command } = after(...intended.slice(0, -1));
    const intent = command.kind === 'intend' ? command.intent : null;
    const row = { ...checkpoint, intent };
    const found: readonly Outcome[] = [
      ...taken(row),
      { kind: 'filter_warm' },
      { kind: 'fetched', records, catalog },
      { kind: 'looked_up', seen: new Map() },
      { kind: 'presence', presence },
    ];
    const inserts = [...stages, 'finish'].map((_stage, written) =>
      tablesOf(after(...found, ...Array.from({ length: written }, () => INSERTED))),
    );
    expect(inserts).toEqual([...stages, 'finish']);
  });

  it('complete what release 0.1.0 began, whose digest is of the usage as well', () => {
    const { state } = after(...intended);
    if (state.phase !== 'inserting') throw new Error(state.phase);
    const digest = settings.digestOf(digestParts(state.batch.encoded));
    expect(digest).not.toBe(state.batch.digest);
    const stepOf = (begun: string): Step => {
      const intent = { end: 1, catalogVersion: 1, foldVersion: FOLD_VERSION - 1, digest: begun };
      return after(
        ...taken({ ...checkpoint, intent }),
        { kind: 'filter_warm' },
        { kind: 'fetched', records, catalog },
        { kind: 'looked_up', seen: new Map() },
        { kind: 'presence', presence: { events: 2, ids: 0, marker: 0 } },
      );
    };
    expect(tablesOf(stepOf(digest))).toEqual(['duplicates']);
    const other = stepOf(`${digest} of other rows`);
    expect(other.state).toMatchObject({ reason: 'unknown_fold_version' });
  });

  it('are sent again when the server refused them, without those that were written beside them', () => {
    const refused: Outcome = { kind: 'not_written', tables: ['usage'] };
    const sent = [...intended, INSERTED, refused];
    expect(tablesOf(after(...sent))).toEqual(['usage']);
    expect(tablesOf(after(...sent, refused))).toEqual(['usage']);
    expect(tablesOf(after(...sent, refused, INSERTED))).toBe('finish');
  });

  it.each([0, 1])('are not sent again when one is unknown, after %i stages', (stages) => {
    const sent = [...intended, ...Array.from({ length: stages }, () => INSERTED)];
    expect(after(...sent, { kind: 'unknown' })).toEqual(FIRST_STEP);
    expect(after(...sent, { kind: 'fenced' }).command).toEqual({ kind: 'step_down' });
  });
});
