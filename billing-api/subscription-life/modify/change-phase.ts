import { PHASES, type PhaseRow } from '../../declarations/subscriptions/phase.resource.js';
import { changeRecord, type ChangeTarget } from '../../records/change-record.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import type { MetadataDto } from '../../records/record-dto.js';
import { accept, type Refusal } from '../../records/refusal.js';
import { writeUnit, type WriteDependencies } from '../../records/unit.js';
import { announcePhase } from '../../subscriptions/phases-store.js';

/** @example {"metadata": {"campaign": "launch"}} */
export interface ChangePhaseBody {
  /** Replaces all metadata of the phase; null removes them. */
  metadata: MetadataDto | null;
}

/** PUT /subscriptions/phases/{id}: the metadata of a phase, the only thing that changes of it. */
export function changePhase(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangePhaseBody },
): Promise<PhaseRow | Refusal> {
  return writeUnit(dependencies, occasion, async (unit) => {
    const reader = new MemberReader();
    const metadata = reader.changedMetadata(body.metadata) ?? {};
    accept(reader.refusal());
    const after = await changeRecord(unit, PHASES, { target, change: () => ({ metadata }) });
    announcePhase(unit, after, 'updated');
    return after;
  });
}
