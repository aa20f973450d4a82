import { AssertionFailed } from '../../runtime/failure.js';
import { outcomeIn } from './expected-outcomes.js';
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
import type { MachineSettings, Outcome, State, Step } from './state.js';
import {
  onFinishing,
  onInserting,
  onIntending,
  onRemembering,
  onRereadingFinish,
  onRereadingIntent,
} from './write.js';

/**
 * The exactly-once protocol of one partition (docs/architecture.md 3.1) as a pure function: from
 * the state of the owner and the outcome of its last command follow its next state and command. The
 * order is take → gate → drain → inspect → warm filter → [refetch → look up → presence → insert →
 * finish] for an intent that was not finished, then in a loop fetch → look up → intend → [load
 * catalog → intend] while the intent is refused because of a newer catalog → insert → finish →
 * remember.
 *
 * Four rules must hold, and for each the model in docs/protocol-model has a scenario that fails
 * without it. ClickHouse is read only after the drain. An insert is sent once per epoch, and after
 * an unknown outcome the partition is taken again. Ids are looked up at offsets below the batch's
 * own start. An intent is replaced only when no part of its batch exists.
 *
 * Each phase says what follows from each outcome that its command can have, an unknown one among
 * them; the compiler checks that none is missing.
 * @throws AssertionFailed for an outcome that the command of the phase cannot have.
 */
// One case for each phase.
// eslint-disable-next-line complexity
export function nextStep(settings: MachineSettings, state: State, outcome: Outcome): Step {
  switch (state.phase) {
    case 'taking':
      return onTaking(outcomeIn(state.phase, outcome));
    case 'gating':
      return onGating(state, outcomeIn(state.phase, outcome));
    case 'draining':
      return onDraining(state, outcomeIn(state.phase, outcome));
    case 'inspecting':
      return onInspecting(state, outcomeIn(state.phase, outcome));
    case 'warming':
      return onWarming(state, outcomeIn(state.phase, outcome));
    case 'fetching':
      return onFetching(settings, state, outcomeIn(state.phase, outcome));
    case 'refetching':
      return onRefetching(state, outcomeIn(state.phase, outcome));
    case 'looking_up':
      return onLookingUp(settings, state, outcomeIn(state.phase, outcome));
    case 'checking_presence':
      return onCheckingPresence(settings, state, outcomeIn(state.phase, outcome));
    case 'intending':
      return onIntending(settings, state, outcomeIn(state.phase, outcome));
    case 'rereading_intent':
      return onRereadingIntent(settings, state, outcomeIn(state.phase, outcome));
    case 'loading_catalog':
      return onLoadingCatalog(settings, state, outcomeIn(state.phase, outcome));
    case 'inserting':
      return onInserting(state, outcomeIn(state.phase, outcome));
    case 'finishing':
      return onFinishing(state, outcomeIn(state.phase, outcome));
    case 'rereading_finish':
      return onRereadingFinish(state, outcomeIn(state.phase, outcome));
    case 'remembering':
      return onRemembering(state, outcomeIn(state.phase, outcome));
    case 'confirming_halt':
      return onConfirmingHalt(state, outcomeIn(state.phase, outcome));
    case 'halted':
    case 'lost':
      throw new AssertionFailed(
        `an outcome (${outcome.kind}) of a partition that is ${state.phase}`,
      );
  }
}
