import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Queries,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { ADDON_ASSOCIATIONS } from '../../declarations/subscriptions/addon-association.resource.js';
import { walletTransactionToDto } from '../../declarations/money/wallet-transaction.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { isEqual } from '../../records/conditions.js';
import { readRecord } from '../../records/find-record.js';
import { listRequestFrom } from '../../records/list-request.js';
import type { PageRequest } from '../../records/record-dto.js';
import { recordToDto } from '../../records/resource.js';
import { pageToDto, searchRecords } from '../../records/search-records.js';
import { readUnit } from '../../records/unit.js';
import { invoiceToDto } from '../../documents/answer/invoice-answer.js';
import {
  changeLinesOf,
  type RunningDependencies,
} from '../../invoicing/drafts/bill-ended-first.js';
import { addAddon } from './add-addon.js';
import type {
  AddAddonBody,
  AddedAddonDto,
  AddonAssociationDto,
  AddonAssociationListDto,
  RemoveAddonBody,
  RemovedAddonDto,
} from './addons-dto.js';
import { answeredAddon, type AnsweredAddon } from './answered-addon.js';
import { removeAddon } from './remove-addon.js';

function addonToDto({ association, lines }: AnsweredAddon): AddonAssociationDto {
  return { ...recordToDto(ADDON_ASSOCIATIONS, association), line_items: [...lines] };
}

/** Whose lines have changed; a look has changed none. */
const ownerOfAddon = ({
  association,
  isDry,
}: AnsweredAddon & { readonly isDry: boolean }): string | null =>
  isDry ? null : association.subscription_id;

@Route('v1/subscriptions')
@Tags('Subscriptions')
export class SubscriptionAddonsController extends Controller {
  constructor(private readonly dependencies: RunningDependencies) {
    super();
  }

  /**
   * An addon of an active subscription, or of a draft, with which it begins: a line for each of its
   * prices that matches, its entitlements and its credits.
   * @summary Add an addon to a subscription
   */
  @Post('addon')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', { entity: 'subscription', access: 'write', notFound: true })
  public async addAddonToSubscription(
    @Request() request: HttpRequest,
    @Body() body: AddAddonBody,
  ): Promise<AddedAddonDto> {
    const added = accepted(
      await changeLinesOf(addAddon, ownerOfAddon, this.dependencies, occasionOf(request), body),
    );
    const { invoice } = added;
    return {
      ...addonToDto(added),
      invoice: invoice === null ? null : invoiceToDto(invoice, null),
      dry_run: added.isDry,
    };
  }

  /**
   * Ends an addon with the running period, or inside it; with `create_prorations` what is unused of
   * its charges in advance is given to a wallet.
   * @summary Remove an addon from a subscription
   */
  @Delete('addon')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', { entity: 'subscription', access: 'write', notFound: true })
  public async removeAddonFromSubscription(
    @Request() request: HttpRequest,
    @Body() body: RemoveAddonBody,
  ): Promise<RemovedAddonDto> {
    const removed = accepted(
      await changeLinesOf(removeAddon, ownerOfAddon, this.dependencies, occasionOf(request), body),
    );
    const { transaction } = removed;
    return {
      ...addonToDto(removed),
      wallet_transaction: transaction === null ? null : walletTransactionToDto(transaction),
      message: removed.isDry
        ? 'the addon would be removed from the subscription'
        : 'the addon is removed from the subscription',
      dry_run: removed.isDry,
    };
  }

  /**
   * The addons that a subscription has, had or is to have; newest first.
   * @summary List the addons of a subscription
   */
  @Get('{id}/addons/associations')
  @Extension('x-operation', { entity: 'subscription', access: 'read' })
  public async listAddonsOfSubscription(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Queries() query: PageRequest,
  ): Promise<AddonAssociationListDto> {
    const page = await readUnit(this.dependencies, occasionOf(request), async (unit) => {
      await readRecord(unit, SUBSCRIPTIONS, id);
      const found = await searchRecords(unit, ADDON_ASSOCIATIONS, {
        request: listRequestFrom(query),
        conditions: isEqual('subscription_id', id),
      });
      return { ...found, items: await answeredAddon(unit, found.items) };
    });
    return pageToDto(accepted(page), addonToDto);
  }
}
