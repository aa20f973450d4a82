import {
  appendedAtMsOf,
  buildBatch,
  draftBatch,
  firstHalf,
  idHashesOf,
  rebuildBatch,
} from './build-batch.js';
import { FOLD_VERSION } from '../fold/fold-version.js';
import { countsTheSame } from '../fold/refold-batch.js';
import { reasonNotInLog } from './check-inspection.js';
import type { OutcomeIn } from './expected-outcomes.js';
import type {
  BatchFacts,
  Catalog,
  Checkpoint,
  Draft,
  Intent,
  MachineSettings,
  Outcome,
  StateIn,
  Step,
} from './state.js';
import { fetchNext, FIRST_STEP, halt } from './steps.js';
import { tablesToInsert } from './tables-to-insert.js';
import { insertNext, intend, replaceIntent } from './write.js';

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

function foldAndIntend(
  settings: MachineSettings,
  checkpoint: Checkpoint,
  facts: Omit<BatchFacts, 'fold'>,
): Step {
  const built = buildBatch(settings, checkpoint.nextOffset, facts);
  if (typeof built === 'string') return halt(checkpoint, built);
  return intend(checkpoint, built.batch, { ...facts, fold: built.fold });
}

export function onLookingUp(
  settings: MachineSettings,
  { checkpoint, intent, draft }: StateIn<'looking_up'>,
  outcome: OutcomeIn<'looking_up'>,
): Step {
  switch (outcome.kind) {
    case 'looked_up': {
      const facts = { draft, seen: outcome.seen, refusals: 0 };
      if (intent === null) return foldAndIntend(settings, checkpoint, facts);
      const built = buildBatch(settings, checkpoint.nextOffset, facts);
      if (typeof built === 'string') return halt(checkpoint, built);
      const { batch } = built;
      return {
        state: { phase: 'checking_presence', checkpoint, intent, batch },
        command: { kind: 'check_presence', range: batch.range, appendedAtMs: batch.appendedAtMs },
      };
    }
    case 'unknown':
      return FIRST_STEP;
  }
}

/** Inserts what is missing of an intended batch, once it is known which parts of it exist. */
function recover(
  { checkpoint, intent, batch }: StateIn<'checking_presence'>,
  { presence }: Extract<Outcome, { kind: 'presence' }>,
): Step {
  if (batch.digest !== intent.digest) {
    const isUntouched = presence.events === 0 && presence.ids === 0 && presence.marker === 0;
    const isOurs = intent.foldVersion === FOLD_VERSION;
    const reason = isOurs ? 'digest_mismatch' : 'unknown_fold_version';
    return isUntouched ? replaceIntent(checkpoint, batch) : halt(checkpoint, reason);
  }
  const tables = tablesToInsert(batch, presence);
  return typeof tables === 'string'
    ? halt(checkpoint, tables)
    : insertNext(checkpoint, batch, tables);
}

export function onCheckingPresence(
  state: StateIn<'checking_presence'>,
  outcome: OutcomeIn<'checking_presence'>,
): Step {
  switch (outcome.kind) {
    case 'presence':
      return recover(state, outcome);
    case 'unknown':
      return FIRST_STEP;
  }
}

/**
 * A batch that is refused more often than this is halved. Folding what is new takes milliseconds
 * and is seldom refused so often by chance; halving folds all that is left of the batch.
 */
const REFUSALS_OF_WHOLE_MAX = 5;

/**
 * Folds the records of a refused batch with the newer catalog. Which of their ids are known need
 * not be asked again: ids below the batch are of finished batches, and while the epoch is ours
 * nobody else can write in this partition.
 *
 * When the newer catalog has the same meters for all of these events, the rows are the same. Where
 * it has others, only these are folded, so that this is done before the next meter comes. Should it
 * take longer, the batch is halved, or else it would be refused for ever.
 */
function foldAgain(
  settings: MachineSettings,
  { checkpoint, facts, batch }: StateIn<'loading_catalog'>,
  catalog: Catalog,
): Step {
  const newer = { ...facts.draft, catalog };
  const refusals = facts.refusals + 1;
  if (countsTheSame(facts.fold.kept, { from: facts.draft.catalog.meters, to: catalog.meters })) {
    const same = { ...batch, catalogVersion: catalog.version };
    return intend(checkpoint, same, { ...facts, draft: newer, refusals });
  }
  const wanted = refusals > REFUSALS_OF_WHOLE_MAX ? firstHalf(newer) : newer;
  // More meters make more rows, which must fit into one insert again.
  const draft = draftBatch(wanted.records, catalog, settings) ?? wanted;
  if (draft.end < newer.end) {
    return foldAndIntend(settings, checkpoint, { ...facts, draft, refusals });
  }
  const refolded = rebuildBatch(facts, catalog);
  return intend(checkpoint, refolded.batch, { ...facts, draft, refusals, fold: refolded.fold });
}

export function onLoadingCatalog(
  settings: MachineSettings,
  state: StateIn<'loading_catalog'>,
  outcome: OutcomeIn<'loading_catalog'>,
): Step {
  switch (outcome.kind) {
    case 'catalog_loaded':
      return foldAgain(settings, state, outcome.catalog);
    case 'unknown':
      return FIRST_STEP;
  }
}
