import { Decimal } from '../../../contract/number/decimal.js';

/** A level of an alert: on which side of which number a balance is too far. */
export type AlertLevel = { readonly condition: 'above' | 'below'; readonly threshold: number };

/** The settings of an alert (docs/domain.md 31). */
export type AlertLevels = {
  readonly alert_enabled: boolean;
  readonly critical: AlertLevel | null;
  readonly warning: AlertLevel | null;
  readonly info: AlertLevel | null;
};

/** From the best to the worst. */
export const ALERT_STATES = ['ok', 'info', 'warning', 'in_alarm'] as const;
export type AlertState = (typeof ALERT_STATES)[number];

/** Whether a balance has reached a level; the threshold itself belongs to it. */
function isReached(level: AlertLevel | null, balance: Decimal): boolean {
  if (level === null) return false;
  const threshold = new Decimal(String(level.threshold));
  return level.condition === 'below'
    ? balance.lessThanOrEqualTo(threshold)
    : balance.greaterThanOrEqualTo(threshold);
}

/** The state of an alert for a balance: that of the most serious level that it has reached. */
export function alertState(levels: AlertLevels | null, balance: Decimal): AlertState {
  if (levels === null || !levels.alert_enabled) return 'ok';
  if (isReached(levels.critical, balance)) return 'in_alarm';
  if (isReached(levels.warning, balance)) return 'warning';
  return isReached(levels.info, balance) ? 'info' : 'ok';
}

/** Whether a change of state makes things better. */
export function isRecovery(from: AlertState, to: AlertState): boolean {
  return ALERT_STATES.indexOf(to) < ALERT_STATES.indexOf(from);
}
