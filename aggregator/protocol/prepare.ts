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
import type { OutcomeIn } from './expected-outcomes.js';
import type {
  Batch,
  Catalog,
  Checkpoint,
  Draft,
  Intent,
  MachineSettings,
  Outcome,
  PreparedBatch,
  StateIn,
  Step,
} from './state.js';
import { fetchNext, FIRST_STEP, halt } from './steps.js';
import { tablesToInsert } from './tables-to-insert.js';
import { insertNext, intend } from './write.js';

// From reading the records of a batch until it is known what must be written.

type Fetched = Extract<Outcome, { kind: 'fetched' }>;

function lookUp(
  checkpoint: Checkpoint,
  { intent, draft }: { readonly intent: Intent | null; readonly draft: Draft },
): Step {
  return {
    state: { phase: 'looking_up', checkpoint, intent, draft },
    // Only below the batch: rows that an earlier attempt wrote of it are not earlier events.
    command: {
      ...{ kind: 'look_up', idHashes: idHashesOf(draft), below: checkpoint.nextOffset },
      appendedAtMs: appendedAtMsOf(draft),
    },
  };
}

export function onFetching(
  settings: MachineSettings,
  { checkpoint }: StateIn<'fetching'>,
  outcome: OutcomeIn<'fetching'>,
): Step {
  switch (outcome.kind) {
    case 'fetched': {
      const draft = draftBatch(outcome.records, outcome.catalog, settings);
      return draft === null ? fetchNext(checkpoint) : lookUp(checkpoint, { intent: null, draft });
    }
    case 'not_in_log':
      return halt(checkpoint, reasonNotInLog(outcome));
    case 'unknown':
      return FIRST_STEP;
  }
}

function lookUpIntended(
  { checkpoint, intent }: StateIn<'refetching'>,
  { records, catalog }: Fetched,
): Step {
  // Fewer records than intended must not become a shorter batch: the missing events would be lost.
  if (records.at(-1)?.offset !== intent.end - 1) return FIRST_STEP;
  return lookUp(checkpoint, { intent, draft: { records, catalog, end: intent.end } });
}

export function onRefetching(state: StateIn<'refetching'>, outcome: OutcomeIn<'refetching'>): Step {
  switch (outcome.kind) {
    case 'fetched':
      return lookUpIntended(state, outcome);
    case 'not_in_log':
      return halt(state.checkpoint, reasonNotInLog(outcome));
    case 'unknown':
      return FIRST_STEP;
  }
}

export function onLookingUp(
  settings: MachineSettings,
  { checkpoint, intent, draft }: StateIn<'looking_up'>,
  outcome: OutcomeIn<'looking_up'>,
): Step {
  switch (outcome.kind) {
    case 'looked_up': {
      const { seen } = outcome;
      const prepared = prepareBatch(settings, checkpoint.nextOffset, { draft, seen });
      if (intent === null) return intend(checkpoint, prepared, { wasRefused: false });
      const { range } = prepared;
      return {
        state: { phase: 'checking_presence', checkpoint, intent, prepared },
        command: { kind: 'check_presence', range, appendedAtMs: appendedAtMsOf(draft) },
      };
    }
    case 'unknown':
      return FIRST_STEP;
  }
}

/** Up to release 0.1.0 a digest was of the rows of usage as well. */
function isOfDigest({ digestOf }: MachineSettings, batch: Batch, digest: string): boolean {
  return batch.digest === digest || digestOf(digestParts(batch.encoded)) === digest;
}

/** Inserts what is missing of an intended batch, once it is known which parts of it exist. */
function recover(
  settings: MachineSettings,
  { checkpoint, intent, prepared }: StateIn<'checking_presence'>,
  { presence }: Extract<Outcome, { kind: 'presence' }>,
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

export function onCheckingPresence(
  settings: MachineSettings,
  state: StateIn<'checking_presence'>,
  outcome: OutcomeIn<'checking_presence'>,
): Step {
  switch (outcome.kind) {
    case 'presence':
      return recover(settings, state, outcome);
    case 'unknown':
      return FIRST_STEP;
  }
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
  settings: MachineSettings,
  { checkpoint, prepared }: StateIn<'loading_catalog'>,
  outcome: OutcomeIn<'loading_catalog'>,
): Step {
  switch (outcome.kind) {
    case 'catalog_loaded': {
      const again = withCatalog(settings, prepared, outcome.catalog);
      return intend(checkpoint, again, { wasRefused: true });
    }
    case 'unknown':
      return FIRST_STEP;
  }
}
