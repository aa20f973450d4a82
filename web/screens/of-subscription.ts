import type { Schemas } from '../data/api.js';

export type Subscription = Schemas['ExpandedSubscriptionDto'];
/** What a wizard of a subscription gets. */
export type OfSubscription = { readonly subscription: Subscription; readonly close: () => void };

/** The version that was shown: another one is refused. */
export const versionOf = ({ version }: Subscription): string => `"${String(version)}"`;
