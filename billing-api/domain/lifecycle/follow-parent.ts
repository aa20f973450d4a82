import type { SUBSCRIPTION_STATES } from './subscription-lifecycle.js';

type State = (typeof SUBSCRIPTION_STATES)[number];

/** The moves of a child that follow from those of its parent. */
export type FollowingMove = 'activate' | 'end_trial' | 'pause' | 'resume' | 'cancel';

/**
 * The move by which an inherited child goes where its parent is (docs/domain.md 29.1); null where
 * it is there already.
 */
export function moveToFollow(child: State, parent: State): FollowingMove | null {
  if (child === parent) return null;
  if (parent === 'cancelled') return 'cancel';
  if (parent === 'paused') return 'pause';
  if (child === 'incomplete') return 'activate';
  return child === 'trialing' ? 'end_trial' : 'resume';
}
