import { defineLifecycle } from './lifecycle.js';

/** Corrections of events (docs/domain.md 5.4, 7.10). */
export const CORRECTION = defineLifecycle({
  subject: 'correction',
  states: ['preparing', 'ready', 'applied', 'reverting', 'reverted', 'failed'],
  initial: ['preparing'],
  moves: {
    prepare: { from: ['preparing'], to: ['ready'], done: 'prepared' },
    fail: { from: ['preparing'], to: ['failed'], done: 'recorded as failed' },
    apply: { from: ['ready'], to: ['applied'], done: 'applied', announces: 'correction.applied' },
    begin_revert: { from: ['applied'], to: ['reverting'], done: 'reverted' },
    revert: {
      from: ['applied', 'reverting'],
      to: ['reverted'],
      done: 'reverted',
      announces: 'correction.reverted',
    },
  },
  changeable: { preparing: [], ready: [], applied: [], reverting: [], reverted: [], failed: [] },
});
