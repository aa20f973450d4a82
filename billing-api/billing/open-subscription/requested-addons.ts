import type { InstantMs } from '../../../contract/instant.js';
import type { MemberReader } from '../../records/member-rules.js';
import type { DateTime } from '../../records/record-dto.js';

/** An addon that the subscription has; one that is named twice counts twice. */
export interface AddonOfSubscriptionBody {
  addon_id: string;
  /** `onetime` is not available yet. @default "recurring" */
  cadence?: 'onetime' | 'recurring';
  /** The start of the subscription when absent. */
  start_date?: DateTime;
}

/** An addon of a request. */
export type RequestedAddon = {
  /** Where it stands in the request. */
  readonly place: string;
  readonly addonId: string;
  readonly startMs: InstantMs;
};

/** Reads `addons`, which lie within the subscription. */
export function readAddons(
  reader: MemberReader,
  bodies: readonly AddonOfSubscriptionBody[] = [],
  life: { readonly startMs: InstantMs; readonly endMs: InstantMs | null },
): readonly RequestedAddon[] {
  return bodies.map((body, index) => {
    const place = `addons.${index}`;
    if (body.cadence === 'onetime') {
      reader.note(`${place}.cadence`, 'onetime is not available yet; give recurring');
    }
    const startMs = reader.instant(`${place}.start_date`, body.start_date) ?? life.startMs;
    if (startMs < life.startMs) {
      reader.note(`${place}.start_date`, 'must not be before the start of the subscription');
    }
    if (life.endMs !== null && startMs >= life.endMs) {
      reader.note(`${place}.start_date`, 'must lie before the end of the subscription');
    }
    return { place, addonId: body.addon_id, startMs };
  });
}
