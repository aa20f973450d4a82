import { AssertionFailed } from '../../runtime/failure.js';
import { answerIn, type Active, type AnswerIn } from './expected-outcomes.js';
import {
  onConfirmingHalt,
  onDraining,
  onGating,
  onInspecting,
  onTaking,
  onWarming,
} from './fence.js';
import {
  onCheckingPresence,
  onFetching,
  onLoadingCatalog,
  onLookingUp,
  onRefetching,
} from './prepare.js';
import type { MachineSettings, Outcome, State, StateIn, Step } from './state.js';
import {
  afterUnknown,
  onFinishing,
  onInserting,
  onIntending,
  onRemembering,
  onRereadingFinish,
  onRereadingIntent,
} from './write.js';

/** For each phase, what follows from an answer to its command. */
const AFTER: {
  readonly [In in Active]: (
    state: StateIn<In>,
    answer: AnswerIn<In>,
    settings: MachineSettings,
  ) => Step;
} = {
  taking: onTaking,
  gating: onGating,
  draining: onDraining,
  inspecting: onInspecting,
  warming: onWarming,
  fetching: onFetching,
  refetching: onRefetching,
  looking_up: onLookingUp,
  checking_presence: onCheckingPresence,
  intending: onIntending,
  rereading_intent: onRereadingIntent,
  loading_catalog: onLoadingCatalog,
  inserting: onInserting,
  finishing: onFinishing,
  rereading_finish: onRereadingFinish,
  remembering: onRemembering,
  confirming_halt: onConfirmingHalt,
};

/** `phase` is that of the state; by it the compiler finds the phase's own answers. */
function afterAnswer<In extends Active>(
  phase: In,
  state: StateIn<In>,
  { outcome, settings }: { readonly outcome: Outcome; readonly settings: MachineSettings },
): Step {
  return AFTER[phase](state, answerIn(phase, outcome), settings);
}

/**
 * The exactly-once protocol of one partition (docs/internals/architecture.md 3.1) as a pure
 * function: from the state of the owner and the outcome of its last command follow its next state
 * and command. The order is take → gate → drain → inspect → warm filter → [refetch → look up →
 * presence → insert → finish] for an intent that was not finished. Then follows a loop: fetch →
 * look up → intend → [load catalog → intend] while the intent is refused because of a newer catalog
 * → insert → finish → remember.
 *
 * Four rules must hold, and for each the model in docs/internals/protocol-model has a scenario that
 * fails without it. ClickHouse is read only after the drain. An insert is sent once per epoch, and
 * after an unknown outcome the partition is taken again. Ids are looked up at offsets below the
 * batch's own start. An intent is replaced only when no part of its batch exists.
 *
 * Each phase says what follows from each answer that its command can have; the compiler checks that
 * none is missing. Without an answer the partition is taken again, with two exceptions
 * (`afterUnknown`).
 * @throws AssertionFailed for an outcome that the command of the phase cannot have.
 */
export function nextStep(settings: MachineSettings, state: State, outcome: Outcome): Step {
  if (state.phase === 'halted' || state.phase === 'lost') {
    throw new AssertionFailed(`an outcome (${outcome.kind}) of a partition that is ${state.phase}`);
  }
  if (outcome.kind === 'unknown') return afterUnknown(state);
  return afterAnswer(state.phase, state, { outcome, settings });
}
