import type { Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';

/** A payment that a gateway is to take. */
export type Charge = {
  /** That of the payment: what is asked for again with it is done once. */
  readonly paymentId: string;
  /** Null when it pays no invoice yet. */
  readonly invoiceId: string | null;
  readonly invoiceNumber: string | null;
  readonly amount: Decimal;
  readonly currency: string;
  /** Who pays, as the gateway calls them; null when it does not know them. */
  readonly payerId: string | null;
  /** With what, as the gateway calls it; null: what the payer has there as default. */
  readonly methodId: string | null;
};

/** What became of a charge. */
export type ChargeOutcome =
  | {
      readonly status: 'succeeded';
      readonly received: Decimal;
      /** As the gateway calls the charge, also that which a page has led to. */
      readonly chargeId?: string;
    }
  | { readonly status: 'processing' }
  | { readonly status: 'failed'; readonly reason: string };

/** A charge that the gateway knows under an id of its own, or why it will not take it. */
export type PreparedCharge =
  | { readonly status: 'prepared'; readonly id: string }
  | { readonly status: 'failed'; readonly reason: string };

/** Where a payer goes from a page at the gateway. */
export type PageAddresses = {
  /** After the payment. */
  readonly success: string;
  /** Without one; null: nowhere. */
  readonly cancel: string | null;
};

/** A page at the gateway where a payer pays, or why there is none. */
export type OpenedPage =
  | { readonly status: 'open'; readonly id: string; readonly url: string }
  | { readonly status: 'failed'; readonly reason: string };

/** What a gateway tells by itself of a charge. */
export type GatewaySignal = {
  readonly id: string;
  readonly type: string;
  /** The charge, or the page, as the gateway calls it. */
  readonly chargeId: string;
  /** The payment of ours that the charge was made for; absent where the signal does not say it. */
  readonly paymentId?: string;
  readonly outcome: ChargeOutcome;
  /** What was given back of it in all; null when the signal says nothing of it. */
  readonly refunded: Decimal | null;
  /** What the bank of the payer took back by this signal alone (a chargeback); absent for none. */
  readonly withdrawn?: Decimal;
};

/** From its beginning to before its end. */
export type TimeRange = { readonly from: InstantMs; readonly until: InstantMs };

/** A signal that the gateway keeps, whether it was taken or not. */
export type ListedSignal = GatewaySignal & { readonly madeAt: InstantMs };

/** The gateway could not be asked, or has no answer yet: what was asked is asked again. */
export class GatewayUnavailable extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'GatewayUnavailable';
  }
}

/**
 * Takes money of cards and accounts (docs/domain.md 17.3). A charge is prepared first, which takes
 * nothing, and its id is stored; then it is carried out. The gateway carries one out at most once,
 * however often it is asked, so a process may be killed between any two steps.
 * @throws GatewayUnavailable when it is to be asked again.
 */
export type PaymentGateway = {
  readonly prepare: (charge: Charge) => Promise<PreparedCharge>;
  /** Carries out what was prepared, or takes what was reserved. */
  readonly carryOut: (charge: Charge, id: string) => Promise<ChargeOutcome>;
  /** Sets the money of a charge aside, which takes nothing yet and lapses by itself. */
  readonly reserve: (charge: Charge) => Promise<PreparedCharge>;
  /** Lets money go that was set aside; where that fails, it lapses. */
  readonly release: (id: string) => Promise<void>;
  /** Opens a page where a payer pays; the same one however often it is asked for. */
  readonly openPage: (charge: Charge, addresses: PageAddresses) => Promise<OpenedPage>;
  /**
   * Lets nobody pay by a page from now on.
   * @returns what was paid by it before: `failed` when nothing was, and nothing will be.
   */
  readonly closePage: (id: string) => Promise<ChargeOutcome>;
  /** How a charge stands that was prepared; null as long as it is not carried out. */
  readonly look: (id: string) => Promise<ChargeOutcome | null>;
  /** How a page stands; null as long as nobody has paid by it. */
  readonly lookAtPage: (id: string) => Promise<ChargeOutcome | null>;
  /** The signals that the gateway has made in a time, the oldest first. */
  readonly listSignals: (range: TimeRange) => Promise<readonly ListedSignal[]>;
  /**
   * Reads a signal whose signature is that of these bytes: null for one of something else.
   * @throws UnsignedSignal for any other.
   */
  readonly readSignal: (body: Buffer, signature: string) => Promise<GatewaySignal | null>;
};

/** A signal that does not show that it comes from the gateway. */
export class UnsignedSignal extends Error {
  constructor() {
    super('the signature is not that of the gateway for this body, or it is too old');
    this.name = 'UnsignedSignal';
  }
}
