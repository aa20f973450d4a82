import { describe, expect } from 'vitest';
import { test } from '../../testing/billing-test.js';

const above = (threshold: unknown) => ({ condition: 'above', threshold });
const below = (threshold: unknown) => ({ condition: 'below', threshold });
const NONE = { critical: null, warning: null, info: null };

/** Settings, and the member that a refusal names; null for settings that are stored. */
const CASES: readonly (readonly [object, string | null])[] = [
  [{ critical: above(10), warning: above(9.99) }, null],
  [{ critical: above(10), warning: above(10) }, null],
  [{ critical: above(10), warning: above(10.01) }, 'alert_settings.warning'],
  [{ critical: below(10), warning: below(10.01) }, null],
  [{ critical: below(10), warning: below(10) }, null],
  [{ critical: below(10), warning: below(9.99) }, 'alert_settings.warning'],
  [{ critical: below(-1), warning: below(0) }, null],
  [{ critical: above(10), warning: below(20) }, 'alert_settings.warning'],
  [{ warning: above(1) }, 'alert_settings.warning'],
  [{ info: below(1) }, null],
  [{ critical: above(1), info: below(5) }, null],
  [{ critical: above('10') }, 'alert_settings'],
  [{ critical: { condition: 'above' } }, 'alert_settings'],
  [{ critical: { condition: 'beyond', threshold: 1 } }, 'alert_settings'],
  [{ critical: { ...above(1), colour: 'red' } }, 'alert_settings'],
  [{ alert_enabled: 'yes' }, 'alert_settings'],
  [{ urgent: above(1) }, 'alert_settings'],
];

describe('alert settings of a feature', () => {
  test('are checked alike when the feature is made and when it is changed', async ({ api }) => {
    const { id } = await api.make('/v1/features', { name: 'Calls', type: 'boolean' });
    for (const [index, [alert_settings, member]] of CASES.entries()) {
      const body = { name: `Alerts ${index}`, type: 'boolean', alert_settings };
      const made = await api.call('POST', '/v1/features', { body });
      const changed = await api.call('PUT', `/v1/features/${id}`, { body: { alert_settings } });
      const statuses = [made.status, changed.status];
      expect([alert_settings, ...statuses]).toEqual([
        alert_settings,
        ...(member === null ? [201, 200] : [400, 400]),
      ]);
      for (const answer of [made, changed]) {
        const named = Object.keys(answer.body.details ?? {}).join();
        const stored = { alert_enabled: true, ...NONE, ...alert_settings };
        if (member === null) expect(answer.body.alert_settings).toEqual(stored);
        else expect(named).toContain(member);
      }
    }
  });

  test('are taken back as they were answered, and replaced as a whole', async ({ api }) => {
    const alert_settings = { alert_enabled: false, critical: above(10), warning: above(5) };
    const { id, ...made } = await api.make('/v1/features', {
      name: 'Calls',
      type: 'boolean',
      alert_settings,
    });
    const put = async (settings: unknown) => {
      const body = { alert_settings: settings };
      return (await api.call('PUT', `/v1/features/${id}`, { body })).body.alert_settings;
    };
    expect(await put(made.alert_settings)).toEqual({ ...NONE, ...alert_settings });
    expect(await put({ info: above(1) })).toEqual({ ...NONE, alert_enabled: true, info: above(1) });
    expect(await put({ critical: null, warning: null })).toEqual({ alert_enabled: true, ...NONE });
    expect(await put({ alert_enabled: null })).toEqual({ alert_enabled: true, ...NONE });
    expect(await put(null)).toBeNull();
    expect((await api.call('GET', `/v1/features/${id}`)).body.alert_settings).toBeNull();
  });
});
