import { decimalOf, ONE, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import { readAlertSettings } from '../../declarations/alerts/alert-settings.js';
import type {
  AutoTopupDto,
  ChangeWalletBody,
  CreateWalletBody,
  NewWallet,
  PaidPriceType,
  WalletConfigDto,
  WALLETS,
} from '../../declarations/money/wallet.resource.js';
import { priceProblem } from '../../domain/wallet/credits.js';
import { givenOf, MemberReader } from '../../records/member-rules.js';
import { invalid, isRefusal, type Refusal } from '../../records/refusal.js';
import type { Patch } from '../../records/resource.js';
import { NEW_WALLET } from './wallets-store.js';

/** A wallet as it was requested, checked, without its customer. */
export type WalletRequest = {
  readonly wallet: Omit<NewWallet, 'customer_id' | 'currency'>;
  /** Null when a price unit gives it. */
  readonly currency: string | null;
  readonly priceUnit: string | null;
  readonly initial: { readonly credits: Decimal; readonly expiryMs: InstantMs | null } | null;
};

function checkAutoTopup(reader: MemberReader, auto: AutoTopupDto | null | undefined): void {
  if (auto === undefined || auto === null) return;
  reader.decimal('auto_topup.threshold', auto.threshold);
  reader.positive('auto_topup.amount', auto.amount);
}

/** The refusal of a wallet whose automatic top-ups would sell credits for nothing; else null. */
export function autoTopupRefusal(
  wallet: Pick<NewWallet, 'auto_topup' | 'currency' | 'topup_conversion_rate'>,
): Refusal | null {
  const { auto_topup: auto } = wallet;
  if (auto?.invoicing !== true) return null;
  const reader = new MemberReader();
  reader.note('auto_topup.amount', priceProblem(decimalOf(auto.amount), wallet));
  return reader.refusal();
}

function allowedTypes(
  reader: MemberReader,
  config: WalletConfigDto | undefined,
  standard: readonly PaidPriceType[],
): PaidPriceType[] {
  const { allowed_price_types: types = standard } = config ?? {};
  const isAlone = !types.includes('ALL') || types.length === 1;
  if (!isAlone) reader.note('config.allowed_price_types', 'must be ALL alone, or without ALL');
  return [...new Set(types)].sort();
}

function readInitial(
  reader: MemberReader,
  body: CreateWalletBody,
  now: InstantMs,
): WalletRequest['initial'] {
  const credits = reader.positive('initial_credits_to_load', body.initial_credits_to_load);
  const member = 'initial_credits_expiry_date_utc';
  const expiryMs = reader.instant(member, body.initial_credits_expiry_date_utc);
  if (expiryMs !== null && expiryMs <= now) reader.note(member, 'must be in the future');
  if (expiryMs !== null && credits === null) {
    reader.note(member, 'needs initial_credits_to_load, whose credits expire');
  }
  return credits === null ? null : { credits, expiryMs };
}

function namesOf(reader: MemberReader, { name, description }: CreateWalletBody) {
  const checked = name === undefined ? null : reader.name('name', name);
  return { name: checked, description: description ?? null };
}

/** What a credit is worth and costs; a price unit gives its own. */
function ratesOf(reader: MemberReader, body: CreateWalletBody) {
  if (body.price_unit !== undefined && body.conversion_rate !== undefined) {
    reader.note('conversion_rate', 'must be left out with price_unit, which gives the rate');
  }
  const rate = reader.positive('conversion_rate', body.conversion_rate) ?? ONE;
  const cost = reader.positive('topup_conversion_rate', body.topup_conversion_rate) ?? rate;
  return { conversion_rate: rate, topup_conversion_rate: cost };
}

function alertsOf(reader: MemberReader, { alert_settings: alerts }: CreateWalletBody) {
  return alerts === undefined ? null : readAlertSettings(reader, alerts);
}

/** Reads the body of POST /wallets. */
export function readWalletRequest(body: CreateWalletBody, now: InstantMs): WalletRequest | Refusal {
  const reader = new MemberReader();
  if ((body.currency === undefined) === (body.price_unit === undefined)) {
    return invalid({ currency: 'must be given, or else price_unit, but not both' });
  }
  const currency = body.currency === undefined ? null : reader.currency('currency', body.currency);
  const type = body.wallet_type ?? 'PRE_PAID';
  checkAutoTopup(reader, body.auto_topup);
  const standard: PaidPriceType[] = type === 'PRE_PAID' ? ['USAGE'] : ['ALL'];
  const wallet = {
    ...NEW_WALLET,
    ...namesOf(reader, body),
    ...ratesOf(reader, body),
    wallet_type: type,
    config: {
      allowed_price_types: allowedTypes(reader, body.config, standard),
    },
    auto_topup: body.auto_topup ?? null,
    alert_settings: alertsOf(reader, body),
    metadata: reader.metadata(body.metadata),
  };
  const initial = readInitial(reader, body, now);
  const priceUnit = body.price_unit ?? null;
  return reader.refusal() ?? { wallet, currency, priceUnit, initial };
}

/** What a change writes of a wallet. */
export type WalletPatch = Patch<(typeof WALLETS)['columns']>;

/** What PUT /wallets/{id} writes, but for the state. */
export function walletPatch(body: ChangeWalletBody): WalletPatch | Refusal {
  const reader = new MemberReader();
  checkAutoTopup(reader, body.auto_topup);
  const { alert_settings: alerts, config } = body;
  const patch = givenOf({
    name: body.name === null ? null : reader.changedName('name', body.name),
    description: body.description,
    auto_topup: body.auto_topup,
    config:
      config === undefined
        ? undefined
        : { allowed_price_types: allowedTypes(reader, config, ['ALL']) },
    alert_settings:
      alerts === undefined || alerts === null ? alerts : readAlertSettings(reader, alerts),
    metadata: reader.changedMetadata(body.metadata),
  });
  const refusal = reader.refusal();
  return isRefusal(refusal) ? refusal : patch;
}
