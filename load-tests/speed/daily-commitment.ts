/**
 * A windowed commitment with office hours and a night, and what it charges, counted by hand in
 * whole numbers: outside of both, every minute is committed to 0.50, from 09:00 to 17:00 to 0.80
 * and from 22:00 to 06:00, at a lower price, to 0.20; what goes beyond costs half as much again;
 * what is missing is charged.
 */
const MINUTES_OF_DAY = 1_440;

/** Ten-thousandths of a dollar: what a unit costs and what a minute is committed to. */
export type MinuteRule = { readonly unitPrice: bigint; readonly committed: bigint };

export const OUTSIDE: MinuteRule = { unitPrice: 123n, committed: 5_000n };
export const DAY = { startHour: 9, endHour: 17, unitPrice: 123n, committed: 8_000n } as const;
export const NIGHT = { startHour: 22, endHour: 6, unitPrice: 100n, committed: 2_000n } as const;
export const OVERAGE_FACTOR = '1.5';

/** Of a sum in ten-thousandths: `0.0123`. */
export function dollarsOf(tenThousandths: bigint): string {
  const digits = tenThousandths.toString().padStart(5, '0');
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

function ruleAt(minuteOfDay: number): MinuteRule {
  const hour = Math.floor(minuteOfDay / 60);
  if (hour >= DAY.startHour && hour < DAY.endHour) return DAY;
  return hour >= NIGHT.startHour || hour < NIGHT.endHour ? NIGHT : OUTSIDE;
}

/** Cents, half-up, of thousandths of a cent; `12.34`. */
export function moneyOf(thousandths: bigint): string {
  const cents = ((thousandths + 500n) / 1_000n).toString().padStart(3, '0');
  return `${cents.slice(0, -2)}.${cents.slice(-2)}`;
}

/** The charge of minutes in UTC from a midnight on, rounded once at the end. */
export function chargeByHand(minutes: number, usedIn: (minute: number) => number): string {
  let charge = 0n;
  for (let minute = 0; minute < minutes; minute += 1) {
    const { unitPrice, committed } = ruleAt(minute % MINUTES_OF_DAY);
    const beyond = BigInt(usedIn(minute)) * unitPrice - committed;
    charge += 10n * committed + (beyond > 0n ? 15n * beyond : 0n);
  }
  return moneyOf(charge);
}
