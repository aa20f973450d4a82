import {
  Body,
  Controller,
  Extension,
  Path,
  Post,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { formatInstant } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { walletTransactionToDto } from '../../declarations/money/wallet-transaction.resource.js';
import { couponAssociationToDto } from '../../declarations/coupons/coupon-association.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import { taxAssociationToDto } from '../../declarations/taxes/tax-association.resource.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions } from '../../edge/versions.js';
import { instantToDto } from '../../records/record-dto.js';
import {
  billEndedFirst,
  changeLinesOf,
  type RunningDependencies,
} from '../../invoicing/drafts/bill-ended-first.js';
import { loadedSubscriptionToDto } from '../../subscriptions/subscription-expansions.js';
import { invoiceToDto } from '../../documents/answer/invoice-answer.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import type { ReplacedLine } from '../lines/replace-line.js';
import { documentOf } from '../../documents/store/document-parts.js';
import type {
  ModifiedCouponDto,
  ModifiedDto,
  ModifiedInvoiceDto,
  ModifiedLineDto,
  ModifiedSubscriptionDto,
  ModifiedTaxDto,
  ModifySubscriptionBody,
} from './modify-dto.js';
import type { ModifiedAdjustments } from './modify-adjustments.js';
import { modifySubscription, type Modified } from './modify-subscription.js';
import type { MovedTrial } from './move-trial-end.js';

function lineToDto(row: LineItemRow, action: ModifiedLineDto['change_action']): ModifiedLineDto {
  return {
    id: row.id,
    price_id: row.price_id,
    quantity: row.quantity,
    start_date: formatInstant(row.start_date),
    end_date: instantToDto(row.end_date),
    change_action: action,
  };
}

function createdInvoice(document: InvoiceDocument): ModifiedInvoiceDto {
  const invoice = invoiceToDto(document, null);
  return {
    id: assertPresent(document.header.id, 'the id of a stored invoice'),
    action: 'created',
    status: invoice.invoice_status,
    invoice,
    wallet_transaction: null,
  };
}

function settledBy({ invoice, transaction }: ReplacedLine): ModifiedInvoiceDto[] {
  if (invoice !== null) return [createdInvoice(invoice)];
  if (transaction === null) return [];
  const credited = walletTransactionToDto(transaction);
  return [
    {
      id: transaction.id,
      action: 'credited',
      status: credited.transaction_status,
      invoice: null,
      wallet_transaction: credited,
    },
  ];
}

function trialToDto({ subscription: row }: MovedTrial): ModifiedSubscriptionDto {
  const isActive = row.subscription_status === 'active';
  return memberToDto({ row, action: isActive ? 'activated' : 'updated' });
}

function memberToDto({
  row,
  action,
}: {
  readonly row: SubscriptionRow;
  readonly action: ModifiedSubscriptionDto['action'];
}): ModifiedSubscriptionDto {
  return {
    id: row.id,
    action,
    status: row.subscription_status,
    trial_end: instantToDto(row.trial_end),
    current_period_end: formatInstant(row.current_period_end),
  };
}

function couponToDto({
  attached,
  action,
}: ModifiedAdjustments['coupons'][number]): ModifiedCouponDto {
  return { ...couponAssociationToDto(attached), change_action: action };
}

function taxToDto({ attached, action }: ModifiedAdjustments['taxes'][number]): ModifiedTaxDto {
  return { ...taxAssociationToDto(attached), change_action: action };
}

/** What was done to coupons and taxes; nothing by a modification of another type. */
function adjustmentsToDto(adjustments: ModifiedAdjustments | null) {
  return {
    coupon_associations: adjustments === null ? [] : adjustments.coupons.map(couponToDto),
    tax_associations: adjustments === null ? [] : adjustments.taxes.map(taxToDto),
  };
}

function modifiedToDto({
  subscription,
  quantities,
  trial,
  adjustments,
  members,
}: Modified): ModifiedDto {
  const opening = trial?.invoice ?? null;
  return {
    subscription: loadedSubscriptionToDto(subscription),
    changed_resources: {
      line_items: quantities.flatMap(({ before, after }) => [
        lineToDto(before, 'ended'),
        lineToDto(after, 'created'),
      ]),
      subscriptions: [...(trial === null ? [] : [trialToDto(trial)]), ...members.map(memberToDto)],
      invoices: [
        ...quantities.flatMap(settledBy),
        ...(opening === null ? [] : [createdInvoice(documentOf(opening.row, opening.parts))]),
      ],
      ...adjustmentsToDto(adjustments),
    },
  };
}

/** Whose lines were changed. */
const idOfModified = ({ subscription, quantities }: Modified): string | null =>
  quantities.length > 0 ? subscription.subscription.id : null;

@Route('v1/subscriptions')
@Tags('Subscriptions')
export class ModifyController extends Controller {
  constructor(private readonly dependencies: RunningDependencies) {
    super();
  }

  /**
   * What a modification would do now: what ends and begins, and what is charged or given back.
   * Nothing is stored.
   * @summary Preview a modification of a subscription
   */
  @Post('{id}/modify/preview')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', {
    entity: 'subscription',
    access: 'read',
    rate: 'heavy',
    notFound: true,
    repeatable: false,
    overtaken: true,
  })
  public async previewModification(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ModifySubscriptionBody,
  ): Promise<ModifiedDto> {
    const target = { id, isExpected: expectedVersions(request) };
    const wanted = { target, body, isPreview: true };
    return modifiedToDto(
      accepted(
        await billEndedFirst(modifySubscription, this.dependencies, occasionOf(request), wanted),
      ),
    );
  }

  /**
   * Gives line items another quantity inside the running period, and settles what was charged in
   * advance; moves the end of a trial; attaches and ends coupons or tax rates; or changes who
   * belongs to a hierarchy.
   * @summary Modify a subscription
   */
  @Post('{id}/modify/execute')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', {
    entity: 'subscription',
    access: 'write',
    rate: 'heavy',
    notFound: true,
  })
  public async modifySubscription(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ModifySubscriptionBody,
  ): Promise<ModifiedDto> {
    const target = { id, isExpected: expectedVersions(request) };
    const wanted = { target, body, isPreview: false };
    return modifiedToDto(
      accepted(
        await changeLinesOf(
          modifySubscription,
          idOfModified,
          this.dependencies,
          occasionOf(request),
          wanted,
        ),
      ),
    );
  }
}
