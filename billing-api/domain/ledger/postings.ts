import { plain, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import { assertThat } from '../../../runtime/failure.js';

/** The accounts of the ledger (docs/domain.md 21.2). */
export const ACCOUNTS = [
  'receivable',
  'revenue',
  'tax',
  'discounts',
  'payments',
  'refunds',
  'wallet',
  'wallet_funding',
  'write_off',
] as const;
export type Account = (typeof ACCOUNTS)[number];

/** One side of a movement of money; a debit is positive. */
export type Posting = {
  readonly account: Account;
  /** Of the account `wallet`; null otherwise. */
  readonly walletId: string | null;
  readonly amount: Decimal;
};

/** A movement of money: what happened to which record, and postings that add up to 0. */
export type LedgerGroup = {
  readonly customerId: string;
  /** What happened, such as `invoice.finalized`. */
  readonly kind: string;
  readonly entityType: string;
  readonly entityId: string;
  /** Which time, from 0, where it can happen to a record more than once. */
  readonly occurrence: number;
  readonly currency: string;
  readonly postedAt: InstantMs;
  readonly postings: readonly Posting[];
};

const posting = (account: Exclude<Account, 'wallet'>, amount: Decimal): Posting => ({
  account,
  walletId: null,
  amount,
});

/** What a wallet gives is a debit of it: less is owed to its customer. */
export function walletGives(walletId: string, amount: Decimal): Posting {
  return { account: 'wallet', walletId, amount };
}

function walletTakes(walletId: string, amount: Decimal): Posting {
  return walletGives(walletId, amount.negated());
}

/**
 * Postings without those of 0, and with what is missing to 0 as a posting of the last account: the
 * rounding of credits to money, and what a floor at 0 leaves out.
 */
function balanced(postings: readonly Posting[]): readonly Posting[] {
  const left = sumOf(postings.map(({ amount }) => amount)).negated();
  return [...postings, posting('write_off', left)].filter(({ amount }) => !amount.isZero());
}

function exact(postings: readonly Posting[]): readonly Posting[] {
  const sum = sumOf(postings.map(({ amount }) => amount));
  assertThat(sum.isZero(), `postings add up to 0, not to ${plain(sum)}`);
  return postings.filter(({ amount }) => !amount.isZero());
}

/** What a wallet paid of an invoice: in money, and what the credits it took are worth exactly. */
export type WalletShare = {
  readonly walletId: string;
  readonly worth: Decimal;
};

/** The sums of an invoice as its postings need them. */
export type PostedInvoice = {
  readonly subtotal: Decimal;
  readonly discount: Decimal;
  readonly tax: Decimal;
  readonly total: Decimal;
  readonly wallets: readonly WalletShare[];
  /** It sells credits of a wallet: what is charged is not revenue, but what the credits cost. */
  readonly isFunding: boolean;
};

/** A finalized invoice (docs/domain.md 21.2). */
export function postingsOfInvoice(invoice: PostedInvoice): readonly Posting[] {
  return balanced([
    posting('receivable', invoice.total),
    posting('discounts', invoice.discount),
    ...invoice.wallets.map(({ walletId, worth }) => walletGives(walletId, worth)),
    posting(invoice.isFunding ? 'wallet_funding' : 'revenue', invoice.subtotal.negated()),
    posting('tax', invoice.tax.negated()),
  ]);
}

/** Money that came in for an invoice. */
export function postingsOfPayment(amount: Decimal): readonly Posting[] {
  return exact([posting('payments', amount), posting('receivable', amount.negated())]);
}

/** Money that came in for an invoice, and settles a little more: the rest is written off. */
export function postingsOfRoundedPayment(received: Decimal, settled: Decimal): readonly Posting[] {
  return balanced([posting('payments', received), posting('receivable', settled.negated())]);
}

/** What was written off of such a payment, when it is undone as a whole. */
export function postingsOfUnrounded(rest: Decimal): readonly Posting[] {
  return exact([posting('payments', rest), posting('write_off', rest.negated())]);
}

/**
 * Money of an invoice that was paid back beside credit notes, or whose payment did not hold. What
 * credits had paid goes to a wallet; what came from elsewhere (null) goes back there.
 */
export function postingsOfPaidBack(
  amount: Decimal,
  { account, walletId }: PaidBack,
): readonly Posting[] {
  const back =
    walletId === null ? posting('payments', amount.negated()) : walletTakes(walletId, amount);
  return exact([posting(account, amount), back]);
}

/** Money that had become credits and went back: the credits go with it. */
export function postingsOfReturnedMoney(amount: Decimal, walletId: string): readonly Posting[] {
  return exact([walletGives(walletId, amount), posting('payments', amount.negated())]);
}

/** What is undone by paying back: the price, or its payment; and the wallet that gets it. */
export type PaidBack = {
  readonly account: PriceAccount | 'receivable';
  readonly walletId: string | null;
};

/**
 * What lowers the price of an invoice after it was finalized: `refunds`, and of one that sells
 * credits `wallet_funding`, where their price stands.
 */
export type PriceAccount = 'refunds' | 'wallet_funding';

/** The account for what lowers the price of an invoice. */
export function priceAccount(isFunding: boolean): PriceAccount {
  return isFunding ? 'wallet_funding' : 'refunds';
}

/** Credits of a wallet that paid an invoice after it was finalized. */
export function postingsOfCreditPayment(
  { walletId, worth }: WalletShare,
  amount: Decimal,
): readonly Posting[] {
  return balanced([walletGives(walletId, worth), posting('receivable', amount.negated())]);
}

/** A credit note that lowers what is to be paid. */
export function postingsOfAdjustment(
  total: Decimal,
  account: PriceAccount = 'refunds',
): readonly Posting[] {
  return exact([posting(account, total), posting('receivable', total.negated())]);
}

/** A credit note that gives paid money back to a wallet. */
export function postingsOfRefund(
  total: Decimal,
  walletId: string,
  account: PriceAccount = 'refunds',
): readonly Posting[] {
  return exact([posting(account, total), walletTakes(walletId, total)]);
}

/** A refund that is undone, since money for the same price came in after it. */
export function postingsOfUndoneRefund(amount: Decimal, account: PriceAccount): readonly Posting[] {
  return exact([posting('receivable', amount), posting(account, amount.negated())]);
}

/** Credits that a wallet gets, and what was paid for them elsewhere. */
export function postingsOfCredit(
  { walletId, worth }: WalletShare,
  paid: Decimal = ZERO,
): readonly Posting[] {
  return exact([
    posting('payments', paid),
    posting('wallet_funding', worth.minus(paid)),
    walletTakes(walletId, worth),
  ]);
}

/** Credits that a wallet loses without paying anything: expired, terminated or taken by hand. */
export function postingsOfLoss({ walletId, worth }: WalletShare): readonly Posting[] {
  return exact([walletGives(walletId, worth), posting('write_off', worth.negated())]);
}

/** Sold credits that go back with their money. */
export function postingsOfReturnedCredits({ walletId, worth }: WalletShare): readonly Posting[] {
  return exact([walletGives(walletId, worth), posting('wallet_funding', worth.negated())]);
}

/** What an invoice takes off beyond its charges, which a wallet gets (docs/domain.md 30.1). */
export function postingsOfExcess(amount: Decimal, walletId: string): readonly Posting[] {
  return exact([posting('write_off', amount), walletTakes(walletId, amount)]);
}

/** Credits that move from one wallet to another. */
export function postingsOfMove(
  { walletId, worth }: WalletShare,
  toWalletId: string,
): readonly Posting[] {
  return exact([walletGives(walletId, worth), walletTakes(toWalletId, worth)]);
}

/** What became of a voided invoice until then, beside its sums. */
export type PostedVoid = Omit<PostedInvoice, 'wallets'> & {
  /** What credit notes took off it as adjustments. */
  readonly adjusted: Decimal;
  /** What was given back of it: by notes, refunds and credits for unused time. */
  readonly refunded: Decimal;
  readonly paid: Decimal;
  /** What it had taken off of earlier charges (docs/domain.md 25.3). */
  readonly setOff: Decimal;
  /** What wallets get of what was paid and not given back; below 0 what is taken from them. */
  readonly returned: readonly WalletShare[];
};

/**
 * A voided invoice: its claim, its revenue and what was taken off it are undone, and what was paid
 * and not given back belongs to wallets.
 */
export function postingsOfVoid(voided: PostedVoid): readonly Posting[] {
  const { subtotal, discount, tax, total, adjusted, refunded, paid, setOff } = voided;
  return balanced([
    posting('receivable', total.minus(adjusted).minus(paid).negated()),
    posting('discounts', discount.negated()),
    posting(voided.isFunding ? 'wallet_funding' : 'revenue', subtotal),
    posting('tax', tax),
    posting(priceAccount(voided.isFunding), setOff.minus(adjusted).minus(refunded)),
    ...voided.returned.map(({ walletId, worth }) => walletTakes(walletId, worth)),
  ]);
}

/** A credit that was given for a draft, and is taken from its wallet again. */
export function postingsOfTakenBack({ walletId, worth }: WalletShare): readonly Posting[] {
  return exact([walletGives(walletId, worth), posting('refunds', worth.negated())]);
}
