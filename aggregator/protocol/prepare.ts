import {
  appendedAtMsOf,
  completeBatch,
  draftBatch,
  idHashesOf,
  prepareBatch,
} from './build-batch.js';
import { digestParts } from '../fold/encode-rows.js';
import { FOLD_VERSION } from '../fold/fold-version.js';
import { reasonNotInLog } from './check-inspection.js';
import type { AnswerIn } from './expected-outcomes.js';
import type {
  Batch,
  Catalog,
  Checkpoint,
  Draft,
  Intent,
  MachineSettings,
  PreparedBatch,
  StateIn,
  Step,
} from './state.js';
import { fetchNext, FIRST_STEP, halt } from './steps.js';
import { tablesToInsert } from './tables-to-insert.js';
import { insertNext, intend } from './write.js';

// From reading the records of a batch until it is known what must be written.

function lookUp(
  checkpoint: Checkpoint,
  { intent, draft }: { readonly intent: Intent | null; readonly draft: Draft },
): Step {
  return {
    state: { phase: 'looking_up', checkpoint, intent, draft },
    // Only below the batch: rows that an earlier attempt wrote of it are not earlier events.
    command: {
      kind: 'look_up',
      idHashes: idHashesOf(draft),
      below: checkpoint.nextOffset,
      appendedAtMs: appendedAtMsOf(draft),
    },
  };
}

export function onFetching(
  { checkpoint }: StateIn<'fetching'>,
  outcome: AnswerIn<'fetching'>,
  settings: MachineSettings,
): Step {
  if (outcome.kind === 'not_in_log') return halt(checkpoint, reasonNotInLog(outcome));
  const draft = draftBatch(outcome.records, outcome.catalog, settings);
  return draft === null ? fetchNext(checkpoint) : lookUp(checkpoint, { intent: null, draft });
}

export function onRefetching(
  { checkpoint, intent }: StateIn<'refetching'>,
  outcome: AnswerIn<'refetching'>,
): Step {
  if (outcome.kind === 'not_in_log') return halt(checkpoint, reasonNotInLog(outcome));
  const { records, catalog } = outcome;
  // Fewer records than intended must not become a shorter batch: the missing events would be lost.
  if (records.at(-1)?.offset !== intent.end - 1) return FIRST_STEP;
  return lookUp(checkpoint, { intent, draft: { records, catalog, end: intent.end } });
}

export function onLookingUp(
  { checkpoint, intent, draft }: StateIn<'looking_up'>,
  { seen }: AnswerIn<'looking_up'>,
  settings: MachineSettings,
): Step {
  const prepared = prepareBatch(settings, checkpoint.nextOffset, { draft, seen });
  if (intent === null) return intend(checkpoint, prepared, { wasRefused: false });
  const { range } = prepared;
  return {
    state: { phase: 'checking_presence', checkpoint, intent, prepared },
    command: { kind: 'check_presence', range, appendedAtMs: appendedAtMsOf(draft) },
  };
}

/** Up to release 0.1.0 a digest was of the rows of usage as well. */
function isOfDigest({ digestOf }: MachineSettings, batch: Batch, digest: string): boolean {
  return batch.digest === digest || digestOf(digestParts(batch.encoded)) === digest;
}

/** Inserts what is missing of an intended batch, once it is known which parts of it exist. */
export function onCheckingPresence(
  { checkpoint, intent, prepared }: StateIn<'checking_presence'>,
  { presence }: AnswerIn<'checking_presence'>,
  settings: MachineSettings,
): Step {
  const batch = completeBatch(settings, prepared);
  if (typeof batch === 'string') return halt(checkpoint, batch);
  if (!isOfDigest(settings, batch, intent.digest)) {
    const isUntouched = presence.events === 0 && presence.ids === 0 && presence.marker === 0;
    const isOurs = intent.foldVersion === FOLD_VERSION;
    const reason = isOurs ? 'digest_mismatch' : 'unknown_fold_version';
    return isUntouched
      ? intend(checkpoint, prepared, { wasRefused: false })
      : halt(checkpoint, reason);
  }
  const tables = tablesToInsert(batch, presence);
  return typeof tables === 'string'
    ? halt(checkpoint, tables)
    : insertNext(checkpoint, batch, tables);
}

/**
 * The refused batch with a newer catalog. Which of its ids are known need not be asked again: ids
 * below the batch are of finished batches, and while the epoch is ours nobody else can write in
 * this partition. More meters make more rows, which must fit into one insert again.
 */
function withCatalog(
  settings: MachineSettings,
  { draft, seen, ...prepared }: PreparedBatch,
  catalog: Catalog,
): PreparedBatch {
  const again = draftBatch(draft.records, catalog, settings) ?? { ...draft, catalog };
  if (again.end === draft.end) return { ...prepared, seen, draft: again };
  return prepareBatch(settings, prepared.range.start, { draft: again, seen });
}

export function onLoadingCatalog(
  { checkpoint, prepared }: StateIn<'loading_catalog'>,
  { catalog }: AnswerIn<'loading_catalog'>,
  settings: MachineSettings,
): Step {
  return intend(checkpoint, withCatalog(settings, prepared, catalog), { wasRefused: true });
}
