import { defineLifecycle } from './lifecycle.js';

/** In the order of the specification. */
export const SUBSCRIPTION_STATES = [
  'active',
  'paused',
  'cancelled',
  'incomplete',
  'trialing',
  'draft',
] as const;

/** Subscriptions (docs/domain.md 5.1). */
export const SUBSCRIPTION = defineLifecycle({
  subject: 'subscription',
  states: SUBSCRIPTION_STATES,
  initial: ['draft', 'incomplete', 'trialing', 'active'],
  moves: {
    activate: {
      from: ['draft', 'incomplete'],
      to: ['active', 'incomplete', 'trialing'],
      done: 'activated',
      announces: 'subscription.activated',
    },
    end_trial: {
      from: ['trialing'],
      to: ['active', 'incomplete'],
      done: 'ended in its trial',
      announces: 'subscription.activated',
    },
    pause: {
      from: ['active'],
      to: ['paused'],
      done: 'paused',
      announces: 'subscription.paused',
    },
    resume: {
      from: ['paused'],
      to: ['active'],
      done: 'resumed',
      announces: 'subscription.resumed',
    },
    cancel: {
      from: ['draft', 'incomplete', 'trialing', 'active', 'paused'],
      to: ['cancelled'],
      done: 'cancelled',
      announces: 'subscription.cancelled',
    },
  },
  changeable: {
    draft: 'all',
    incomplete: 'all',
    trialing: 'all',
    active: 'all',
    paused: 'all',
    cancelled: ['metadata'],
  },
  groups: {
    /** It may still be charged, so whatever it needs is kept. */
    alive: {
      draft: true,
      incomplete: true,
      trialing: true,
      active: true,
      paused: true,
      cancelled: false,
    },
    /** It is no draft any more. */
    begun: {
      draft: false,
      incomplete: true,
      trialing: true,
      active: true,
      paused: true,
      cancelled: true,
    },
    /** Its periods run, and its usage can be asked for and previewed. */
    running: {
      draft: false,
      incomplete: false,
      trialing: true,
      active: true,
      paused: false,
      cancelled: false,
    },
    /** Its running period is charged when it ends. */
    billed: {
      draft: false,
      incomplete: false,
      trialing: false,
      active: true,
      paused: true,
      cancelled: false,
    },
    /** It is cancelled when its invoices stay unpaid, where the environment wants that. */
    collected: {
      draft: false,
      incomplete: false,
      trialing: true,
      active: true,
      paused: true,
      cancelled: false,
    },
  },
});

/** Pauses of subscriptions (docs/domain.md 5.4). */
export const PAUSE = defineLifecycle({
  subject: 'pause',
  states: ['scheduled', 'active', 'completed', 'cancelled'],
  initial: ['scheduled', 'active'],
  moves: {
    begin: { from: ['scheduled'], to: ['active'], done: 'begun' },
    complete: { from: ['active'], to: ['completed'], done: 'completed' },
    cancel: { from: ['scheduled'], to: ['cancelled'], done: 'cancelled' },
  },
  changeable: { scheduled: 'all', active: ['metadata'], completed: [], cancelled: [] },
});

/** Addons on subscriptions. */
export const ADDON_ASSOCIATION = defineLifecycle({
  subject: 'addon association',
  states: ['pending', 'active', 'cancelled'],
  initial: ['pending', 'active'],
  moves: {
    begin: { from: ['pending'], to: ['active'], done: 'begun' },
    cancel: { from: ['pending', 'active'], to: ['cancelled'], done: 'cancelled' },
  },
  changeable: { pending: 'all', active: 'all', cancelled: [] },
  groups: {
    /** It has, or will have, lines that are charged. */
    alive: { pending: true, active: true, cancelled: false },
  },
});

/** Changes of a subscription that wait for their day. */
export const SCHEDULE = defineLifecycle({
  subject: 'schedule',
  states: ['pending', 'executing', 'executed', 'failed', 'cancelled'],
  initial: ['pending'],
  moves: {
    execute: { from: ['pending'], to: ['executing'], done: 'executed' },
    succeed: { from: ['executing'], to: ['executed'], done: 'ended as executed' },
    fail: { from: ['executing'], to: ['failed'], done: 'ended as failed' },
    cancel: { from: ['pending'], to: ['cancelled'], done: 'cancelled' },
  },
  changeable: { pending: 'all', executing: [], executed: [], failed: [], cancelled: [] },
});
