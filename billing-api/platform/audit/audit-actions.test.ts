import { expect, test } from 'vitest';
import { MOVE_NAMES } from '../../domain/lifecycle/lifecycles.js';
import { PLAIN_ACTIONS } from '../../records/recorded-change.js';
import { AUDIT_ACTIONS } from './audit-entry.js';

test('a search of the audit trail takes every plain action and every move of a life cycle', () => {
  expect(AUDIT_ACTIONS).toEqual([...PLAIN_ACTIONS, ...MOVE_NAMES]);
});
