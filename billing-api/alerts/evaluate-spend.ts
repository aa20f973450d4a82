import { sql } from 'slonik';
import { z } from 'zod';
import { sumOf } from '../../contract/number/decimal.js';
import {
  ALERT_SETTINGS,
  type AlertSettingRow,
} from '../declarations/alerts/alert-setting.resource.js';
import type { AlertType } from '../declarations/alerts/alert-log.resource.js';
import { formatMoney, Money } from '../domain/money/money.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../records/conditions.js';
import type { JobActor, Occasion } from '../records/occasion.js';
import { isRefusal } from '../records/refusal.js';
import { mustWrite, type ReadUnit } from '../records/unit.js';
import { computeInvoices } from '../invoicing/compute/compute-invoice.js';
import { documentOfComputed } from '../invoicing/compute/document-of-computed.js';
import type { InvoiceDocument } from '../documents/invoice-document.js';
import { findPreviewQueries } from '../invoicing/preview/preview-invoice.js';
import type { BillingDependencies } from '../invoicing/drafts/compute-tasks.js';
import { settleAlert, type WatchedFigure } from './settle-alert.js';

/** Subscriptions of one round: their usage is read in one statement. */
const PAGE = 100;

const watchedRow = z.object({
  subscription_id: z.string(),
  setting_id: z.string(),
  line_ids: z.array(z.string()),
});
type Watched = z.output<typeof watchedRow>;

/** A page of running subscriptions that settings watch, and the lines that each is about. */
async function findWatched({ tx }: ReadUnit, after: string | null): Promise<readonly Watched[]> {
  const settings = sql.fragment`
    FROM alert_settings AS setting
    JOIN subscriptions AS subscription ON subscription.status = 'published'
      AND subscription.subscription_status IN ('active', 'trialing')
      AND ${rowIsOfEnvironment('subscription')}
    JOIN subscription_line_items AS line ON line.subscription_id = subscription.id
      AND ${rowIsOfEnvironment('line')}
    LEFT JOIN prices AS price ON price.id = line.price_id AND ${rowIsOfEnvironment('price')}
    LEFT JOIN features AS feature ON feature.meter_id = line.meter_id
      AND feature.status = 'published' AND ${rowIsOfEnvironment('feature')}
    WHERE setting.status = 'published' AND setting.alert_settings ->> 'alert_enabled' = 'true'
      AND setting.entity_id IN (subscription.id, line.id, price.group_id, feature.group_id)
      AND (${after}::text IS NULL OR subscription.id > ${after}) AND ${rowIsOfEnvironment('setting')}`;
  return tx.any(sql.type(watchedRow)`
    SELECT subscription.id AS subscription_id, setting.id AS setting_id,
      array_agg(DISTINCT line.id) AS line_ids
    ${settings}
      AND subscription.id IN (
        SELECT page.id FROM (SELECT DISTINCT subscription.id ${settings}
          ORDER BY subscription.id LIMIT ${PAGE}) AS page)
    GROUP BY subscription.id, setting.id ORDER BY subscription.id, setting.id`);
}

const TYPES = {
  subscription: 'subscription_spend',
  subscription_line_item: 'line_item_spend',
  group: 'group_spend',
} as const satisfies Readonly<Record<AlertSettingRow['entity_type'], AlertType>>;

/** What a subscription, or some of its lines, has spent of its running period. */
function figureOf(
  setting: AlertSettingRow,
  { subscription_id: subscriptionId, line_ids: lineIds }: Watched,
  { header, lines }: InvoiceDocument,
): WatchedFigure {
  const { entity_type: kind, entity_id: entityId, alert_settings: levels } = setting;
  const own = lines.filter(
    ({ subscription_line_item_id: id }) =>
      kind === 'subscription' || (id !== null && lineIds.includes(id)),
  );
  const value = sumOf(own.map(({ amount }) => amount));
  const type = TYPES[kind];
  return {
    type,
    entityId: setting.id,
    levels,
    value,
    scopeId: kind === 'group' ? subscriptionId : '',
    changeTo: (state, { isRecovery, threshold }) => ({
      entity_type: kind,
      entity_id: entityId,
      event: `subscription.${type === 'subscription_spend' ? 'spend' : type}.${isRecovery ? 'threshold_recovered' : 'threshold_reached'}`,
      alert_info: {
        subscription_id: subscriptionId,
        line_item_id: kind === 'subscription_line_item' ? entityId : null,
        group_id: kind === 'group' ? entityId : null,
        state,
        threshold: threshold === null ? null : String(threshold),
        amount: formatMoney(new Money(value, header.currency)),
        currency: header.currency,
      },
    }),
  };
}

type Page = {
  readonly watched: readonly Watched[];
  readonly settings: ReadonlyMap<string, AlertSettingRow>;
};

/** Reads a page, and computes what each of its subscriptions would be charged now. */
async function readPage(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  after: string | null,
): Promise<Page & { readonly documents: ReadonlyMap<string, InvoiceDocument> }> {
  let page: Page = { watched: [], settings: new Map() };
  const computed = computeInvoices(dependencies, occasion, async (unit) => {
    const watched = await findWatched(unit, after);
    const ids = watched.map(({ setting_id: id }) => id);
    const rows = await unit.tx.any(sql.type(ALERT_SETTINGS.row)`
      SELECT * FROM alert_settings
      WHERE id = ANY (${sql.array(ids, 'text')}) AND ${isOfEnvironment}`);
    page = { watched, settings: new Map(rows.map((row) => [row.id, row])) };
    const subscriptions = [...new Set(watched.map(({ subscription_id: id }) => id))];
    const requests = subscriptions.map((id) => ({ subscription_id: id }));
    return requests.length === 0 ? [] : findPreviewQueries(unit, requests);
  });
  const documents = new Map<string, InvoiceDocument>();
  for await (const invoice of computed) {
    // One whose period cannot be shown now has spent nothing that could be compared.
    if (isRefusal(invoice)) continue;
    const document = documentOfComputed(invoice);
    const { subscription_id: id } = document.header;
    if (id !== null) documents.set(id, document);
  }
  return { ...page, documents };
}

/**
 * Evaluates what subscriptions, line items and groups spend in the running period (docs/domain.md
 * 31). Done twice, it finds no change the second time. One page: begins after the subscription
 * `after`.
 * @returns the last subscription that was looked at; null when there are no more.
 * @throws DependencyError when a database fails.
 */
export async function evaluateSpend(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  after: string | null,
): Promise<string | null> {
  const { watched, settings, documents } = await readPage(dependencies, occasion, after);
  const figures = watched.flatMap((one) => {
    const setting = settings.get(one.setting_id);
    const document = documents.get(one.subscription_id);
    if (setting === undefined || document === undefined) return [];
    return [figureOf(setting, one, document)];
  });
  await mustWrite(dependencies, occasion, async (unit) => {
    for (const figure of figures) await settleAlert(unit, figure);
  });
  const count = new Set(watched.map(({ subscription_id: id }) => id)).size;
  return count < PAGE ? null : (watched.at(-1)?.subscription_id ?? null);
}
