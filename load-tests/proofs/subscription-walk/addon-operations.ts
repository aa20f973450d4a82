import { addAddon, removeAddon } from './model/addons.js';
import { coveringPieces, isChargedAhead } from './model/charges.js';
import { runningOf, type Addon, type Life } from './model/life.js';
import type { WalkWorld } from './walk-world.js';
import { pick, type Draws, type Operation } from './act.js';

const ADDONS_MAX = 4;

/** Whether addons can be attached to a subscription and removed from it now. */
function isOpen({ model }: WalkWorld, { status, start, schedule }: Life): boolean {
  return status !== 'draft' && status !== 'trialing' && start <= model.now && schedule === null;
}

const attach: Operation = (world, life, draws) => {
  const { now } = world.model;
  if (!isOpen(world, life) || life.addons.length >= ADDONS_MAX) return null;
  const isLegal = life.status === 'active';
  if (!isLegal && draws.b % 6 > 0) return null;
  const addon = pick(world.addons, draws.a);
  const isProrated = draws.b % 2 === 0;
  const id = `${life.id}/z${life.addons.length}`;
  return {
    says: `add ${id} ${isProrated ? 'prorated' : ''}`,
    path: '/v1/subscriptions/addon',
    body: {
      subscription_id: world.ids.get(life.id),
      addon_id: addon.id,
      proration_behavior: isProrated ? 'create_prorations' : 'none',
    },
    isLegal,
    apply: (answer) => {
      addAddon(life, now, { id, addon, isProrated });
      world.ids.set(id, answer.id);
    },
  };
};

/** Whether nothing of an addon is charged by a draft, which would be computed again. */
function isFinal(life: Life, addonId: string, now: number): boolean {
  const row = runningOf(life);
  return life.items.every((item) => {
    if (item.addonId !== addonId || !isChargedAhead(life, item, row)) return true;
    return coveringPieces(life, item.lineage, now).length > 0;
  });
}

/** An addon that it has, or now and then one that it had. */
function drawAddon(world: WalkWorld, life: Life, { a, b }: Draws): Addon | null {
  if (!isOpen(world, life) || life.status !== 'active') return null;
  const known = life.addons.filter(({ id }) => world.ids.has(id));
  if (known.length === 0) return null;
  const addon = pick(known, a);
  return addon.isActive || b % 6 === 0 ? addon : null;
}

const detach: Operation = (world, life, draws) => {
  const { now } = world.model;
  const addon = drawAddon(world, life, draws);
  if (addon === null) return null;
  const isLegal = addon.isActive;
  // A pause that is to come moves the end of the period.
  const isNow = draws.b % 2 === 0 || life.pause !== null;
  if (isLegal && isNow && !isFinal(life, addon.id, now)) return null;
  return {
    says: `remove ${addon.id}`,
    path: '/v1/subscriptions/addon',
    method: 'DELETE',
    isLegal,
    body: {
      addon_association_id: world.ids.get(addon.id),
      ...(isNow ? { effective_date: new Date(now).toISOString() } : {}),
      proration_behavior: 'create_prorations',
    },
    apply: () => {
      removeAddon(life, addon, isNow ? now : runningOf(life).end);
    },
  };
};

/** The operations on addons that a walk draws, and how often. */
export const ADDON_OPERATIONS: readonly (readonly [weight: number, Operation])[] = [
  [3, attach],
  [2, detach],
];
