import { AssertionFailed } from '../../runtime/failure.js';
import { COMMAND_IN, type Outcome, type Performed, type Phase } from './state.js';

type Kind = Performed['kind'];

/**
 * The answers that each command can have. Its code returns no others (ownership/perform.ts), and
 * the code of each phase says what follows from every one of them: both are typed by this table.
 * Every command can also end without an answer, so `unknown` is expected of all.
 */
const ANSWERS = {
  take: ['taken', 'fenced'],
  raise_gate: ['gate_raised'],
  drain: ['drained'],
  inspect: ['inspected'],
  warm_filter: ['filter_warm'],
  fetch: ['fetched', 'not_in_log'],
  refetch: ['fetched', 'not_in_log'],
  look_up: ['looked_up'],
  check_presence: ['presence'],
  load_catalog: ['catalog_loaded'],
  intend: ['written', 'refused'],
  insert: ['inserted', 'not_written', 'fenced'],
  finish: ['written', 'refused'],
  reread: ['reread'],
  remember: ['remembered'],
} as const satisfies Readonly<Record<Kind, readonly Outcome['kind'][]>>;

export type UnknownOutcome = Extract<Outcome, { readonly kind: 'unknown' }>;
/** What can come of a command. */
export type OutcomeOf<Of extends Kind> =
  Extract<Outcome, { readonly kind: (typeof ANSWERS)[Of][number] }> | UnknownOutcome;

/** The phases in which a command is performed. */
export type Active = Exclude<Phase, 'halted' | 'lost'>;
/** The answers that the command of a phase can have. */
export type AnswerIn<In extends Active> = Exclude<
  OutcomeOf<(typeof COMMAND_IN)[In]>,
  UnknownOutcome
>;

function isAnswerIn<In extends Active>(phase: In, outcome: Outcome): outcome is AnswerIn<In> {
  const answers: readonly Outcome['kind'][] = ANSWERS[COMMAND_IN[phase]];
  return answers.includes(outcome.kind);
}

/**
 * The answer, for the code of its phase.
 * @throws AssertionFailed for one that the command of the phase cannot have: a bug. Taking the
 *   partition again would hide it, since the same code would give the same outcome again.
 */
export function answerIn<In extends Active>(phase: In, outcome: Outcome): AnswerIn<In> {
  if (isAnswerIn(phase, outcome)) return outcome;
  throw new AssertionFailed(`${COMMAND_IN[phase]} cannot have the outcome ${outcome.kind}`);
}
