import { describe, expect, test } from 'vitest';
import { Decimal } from '../../../contract/number/decimal.js';
import { alertState, isRecovery, type AlertLevels } from './alert-state.js';

const below = (threshold: number) => ({ condition: 'below', threshold }) as const;
const LEVELS: AlertLevels = {
  alert_enabled: true,
  critical: below(10),
  warning: below(20),
  info: below(50.5),
};
const stateAt = (balance: string, levels: AlertLevels | null = LEVELS): string =>
  alertState(levels, new Decimal(balance));

describe('the state of an alert', () => {
  test.each([
    ['50.500000000001', 'ok'],
    ['50.5', 'info'],
    ['20.01', 'info'],
    ['20', 'warning'],
    ['10', 'in_alarm'],
    ['-3', 'in_alarm'],
  ])('at %s is %s: thresholds belong to their level', (balance, state) => {
    expect(stateAt(balance)).toBe(state);
  });

  test('may lie above a number too', () => {
    const critical = { condition: 'above', threshold: 0.1 } as const;
    const levels = { ...LEVELS, critical, warning: null, info: null };
    expect([stateAt('0.1', levels), stateAt('0.09', levels)]).toEqual(['in_alarm', 'ok']);
  });

  test('is ok without settings, and while they are switched off', () => {
    expect([stateAt('0', null), stateAt('0', { ...LEVELS, alert_enabled: false })]).toEqual([
      'ok',
      'ok',
    ]);
  });

  test('recovers towards ok', () => {
    expect([isRecovery('in_alarm', 'info'), isRecovery('ok', 'warning')]).toEqual([true, false]);
  });
});
