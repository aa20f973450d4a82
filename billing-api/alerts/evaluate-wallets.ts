import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf } from '../../contract/number/decimal.js';
import { FEATURES, type FeatureRow } from '../declarations/catalog/feature.resource.js';
import { WALLETS, walletToDto, type WalletRow } from '../declarations/money/wallet.resource.js';
import type { AlertLevels, AlertState } from '../domain/wallet/alert-state.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../records/conditions.js';
import type { JobActor, Occasion } from '../records/occasion.js';
import { isRefusal } from '../records/refusal.js';
import { mustRead, mustWrite, type ReadUnit } from '../records/unit.js';
import type { BillingDependencies } from '../invoicing/drafts/compute-tasks.js';
import {
  readRealTimeBalance,
  type RealTimeWalletDto,
} from '../invoicing/prepaid/real-time-balance.js';
import { settleAlert, type WatchedFigure } from './settle-alert.js';

/** Wallets of one round. */
const PAGE = 100;

const isEnabled = (levels: AlertLevels | null): levels is AlertLevels =>
  levels?.alert_enabled === true;

const customerRow = z.object({ feature_id: z.string(), customer_id: z.string() });

/** Features that watch wallets, and for each the customers who run it, among these. */
async function findWatching({ tx }: ReadUnit, customerIds: readonly string[]) {
  const features = await tx.any(sql.type(FEATURES.row)`
    SELECT * FROM features AS feature
    WHERE feature.status = 'published' AND feature.alert_settings ->> 'alert_enabled' = 'true'
      AND ${rowIsOfEnvironment('feature')}
    ORDER BY feature.id`);
  if (features.length === 0) return { features, users: [] };
  const users = await tx.any(sql.type(customerRow)`
    SELECT DISTINCT feature.id AS feature_id, subscription.customer_id
    FROM features AS feature
    JOIN subscriptions AS subscription ON subscription.status = 'published'
      AND subscription.subscription_status IN ('active', 'trialing')
      AND ${rowIsOfEnvironment('subscription')}
    WHERE feature.status = 'published' AND feature.alert_settings ->> 'alert_enabled' = 'true'
      AND subscription.customer_id = ANY (${sql.array([...customerIds], 'text')})
      AND (EXISTS (
          SELECT FROM subscription_line_items AS line
          WHERE line.subscription_id = subscription.id AND line.meter_id = feature.meter_id
            AND line.status = 'published' AND ${rowIsOfEnvironment('line')})
        OR EXISTS (
          SELECT FROM entitlements AS entitlement
          WHERE entitlement.feature_id = feature.id AND entitlement.status = 'published'
            AND entitlement.entity_id IN (subscription.plan_id, subscription.id)
            AND ${rowIsOfEnvironment('entitlement')}))
      AND ${rowIsOfEnvironment('feature')}`);
  return { features, users };
}

type WalletPage = {
  readonly wallets: readonly WalletRow[];
  readonly featuresOf: (wallet: WalletRow) => readonly FeatureRow[];
};

async function findPage(unit: ReadUnit, after: string | null): Promise<WalletPage> {
  const wallets = await unit.tx.any(sql.type(WALLETS.row)`
    SELECT * FROM wallets
    WHERE wallet_status = 'active' AND (${after}::text IS NULL OR id > ${after}) AND ${isOfEnvironment}
    ORDER BY id LIMIT ${PAGE}`);
  const customerIds = wallets.map(({ customer_id: id }) => id);
  const { features, users } = await findWatching(unit, customerIds);
  return {
    wallets,
    featuresOf: ({ customer_id: customerId }) =>
      features.filter(({ id }) =>
        users.some((user) => user.feature_id === id && user.customer_id === customerId),
      ),
  };
}

/** The balance of a wallet against its own levels. */
function ofWallet(wallet: WalletRow, levels: AlertLevels, now: RealTimeWalletDto): WatchedFigure {
  const beside = { wallet: walletToDto(wallet) };
  const infoOf = (state: AlertState) => ({
    state,
    alert_type: 'ongoing_balance',
    alert_settings: levels,
    current_balance: now.real_time_balance,
    credit_balance: now.real_time_credit_balance,
  });
  return {
    type: 'ongoing_balance',
    entityId: wallet.id,
    scopeId: '',
    levels,
    value: decimalOf(now.real_time_credit_balance),
    changeTo: (state, { isRecovery }) => ({
      entity_type: 'wallet',
      entity_id: wallet.id,
      beside,
      alert_info: infoOf(state),
      event: `wallet.ongoing_balance.${isRecovery ? 'recovered' : 'dropped'}`,
    }),
    updateTo: (state) => ({
      name: 'wallet.ongoing_balance.updated',
      entityType: 'wallet',
      entityId: wallet.id,
      payload: { ...beside, alert: infoOf(state) },
    }),
  };
}

/** The balance of a wallet against the levels of a feature. */
function ofFeature(
  wallet: WalletRow,
  { id, levels }: { readonly id: string; readonly levels: AlertLevels },
  now: RealTimeWalletDto,
): WatchedFigure {
  return {
    type: 'feature_wallet_balance',
    entityId: id,
    scopeId: wallet.id,
    levels,
    value: decimalOf(now.real_time_credit_balance),
    changeTo: (state) => ({
      entity_type: 'feature',
      entity_id: id,
      event: 'feature.wallet_balance.alert',
      alert_info: {
        alert_type: 'feature_wallet_balance',
        alert_status: state,
        feature_id: id,
        wallet_id: wallet.id,
        customer_id: wallet.customer_id,
        current_balance: now.real_time_balance,
        credit_balance: now.real_time_credit_balance,
      },
    }),
  };
}

/** Evaluates everything that watches one wallet. @throws DependencyError when a database fails. */
async function evaluateWallet(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  { wallet, features }: { readonly wallet: WalletRow; readonly features: readonly FeatureRow[] },
): Promise<void> {
  const { alert_settings: own } = wallet;
  if (!isEnabled(own) && features.length === 0) return;
  const now = await readRealTimeBalance(dependencies, occasion, wallet.id);
  if (isRefusal(now)) return;
  const watched = [
    ...(isEnabled(own) ? [ofWallet(wallet, own, now)] : []),
    ...features.flatMap(({ id, alert_settings: levels }) =>
      isEnabled(levels) ? [ofFeature(wallet, { id, levels }, now)] : [],
    ),
  ];
  await mustWrite(dependencies, occasion, async (unit) => {
    for (const figure of watched) await settleAlert(unit, figure);
  });
}

/**
 * Evaluates the real-time balances of wallets, for their own alerts and those of features
 * (docs/domain.md 31). Done twice, it finds no change the second time. One page: begins after the
 * wallet `after`.
 * @returns the last wallet that was looked at; null when there are no more.
 */
export async function evaluateWallets(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  after: string | null,
): Promise<string | null> {
  const { wallets, featuresOf } = await mustRead(dependencies, occasion, (unit) =>
    findPage(unit, after),
  );
  for (const wallet of wallets) {
    await evaluateWallet(dependencies, occasion, { wallet, features: featuresOf(wallet) });
  }
  return wallets.length < PAGE ? null : (wallets.at(-1)?.id ?? null);
}
