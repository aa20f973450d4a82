import { assertPresent } from '../../../runtime/failure.js';

/* On how many invoices a coupon counts: everything else asks here (docs/domain.md 14.4). */

export const COUPON_CADENCES = ['once', 'repeated', 'forever'] as const;
export type CouponCadence = (typeof COUPON_CADENCES)[number];

type Cadence = {
  /** Whether a coupon of it needs a number of billing periods; no other one has it. */
  readonly hasDuration: boolean;
  /** On how many invoices it counts; null: there is no limit. */
  readonly applicationsMax: ((durationInPeriods: number | null) => number) | null;
};

const CADENCES: Readonly<Record<CouponCadence, Cadence>> = {
  once: { hasDuration: false, applicationsMax: () => 1 },
  repeated: {
    hasDuration: true,
    applicationsMax: (duration) => assertPresent(duration, 'the duration of a coupon'),
  },
  forever: { hasDuration: false, applicationsMax: null },
};

/** Whether a coupon counts on a limited number of invoices. */
export const isLimited = (cadence: CouponCadence): boolean =>
  CADENCES[cadence].applicationsMax !== null;

/** Whether a coupon of this cadence needs a number of billing periods. */
export const hasDuration = (cadence: CouponCadence): boolean => CADENCES[cadence].hasDuration;

/** Whether a coupon that counts on so many invoices already may count on one more. */
export function hasApplicationsLeft(
  cadence: CouponCadence,
  durationInPeriods: number | null,
  applied: number,
): boolean {
  const { applicationsMax } = CADENCES[cadence];
  return applicationsMax === null || applied < applicationsMax(durationInPeriods);
}
