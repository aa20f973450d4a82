import type { Outcome, State } from './state.js';

type Phase = State['phase'];

/**
 * The outcomes that the command of each phase can have. Every command can also end without an
 * answer, so `unknown` is expected everywhere.
 */
const EXPECTED = {
  taking: ['taken', 'fenced'],
  gating: ['gate_raised'],
  draining: ['drained'],
  inspecting: ['inspected'],
  warming: ['filter_warm'],
  fetching: ['fetched', 'not_in_log'],
  refetching: ['fetched', 'not_in_log'],
  looking_up: ['looked_up'],
  checking_presence: ['presence'],
  intending: ['written', 'refused'],
  rereading_intent: ['reread'],
  loading_catalog: ['catalog_loaded'],
  inserting: ['inserted', 'fenced'],
  finishing: ['written', 'refused'],
  rereading_finish: ['reread'],
  remembering: ['remembered'],
  confirming_halt: ['reread'],
  halted: [],
  lost: [],
} as const satisfies Readonly<Record<Phase, readonly Outcome['kind'][]>>;

type Unknown = Extract<Outcome, { kind: 'unknown' }>;
type Answer<In extends Phase> = Extract<Outcome, { kind: (typeof EXPECTED)[In][number] }>;

/** The state in a phase. */
export type StateIn<In extends Phase> = Extract<State, { readonly phase: In }>;
/** What can come of the command of a phase. */
export type OutcomeIn<In extends Phase> = Answer<In> | Unknown;

function isAnswer<In extends Phase>(phase: In, outcome: Outcome): outcome is Answer<In> {
  const kinds: readonly Outcome['kind'][] = EXPECTED[phase];
  return kinds.includes(outcome.kind);
}

/**
 * The outcome, for the code of its phase. One that the command of the phase cannot have tells
 * nothing about that command: its outcome is unknown.
 */
export function outcomeIn<In extends Phase>(phase: In, outcome: Outcome): OutcomeIn<In> {
  return isAnswer(phase, outcome) ? outcome : { kind: 'unknown' };
}
