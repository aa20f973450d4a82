import { Body, Extension, Get, Path, Post, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import {
  walletTransactionToDto,
  type WalletTransactionDto,
} from '../../declarations/money/wallet-transaction.resource.js';
import { walletToDto, type WalletDto } from '../../declarations/money/wallet.resource.js';
import type { BillingDependencies } from '../drafts/compute-tasks.js';
import { readRealTimeBalance, type RealTimeWalletDto } from './real-time-balance.js';
import { topUpWallet, type TopUpWalletBody } from './top-up.js';

/** What a top-up has done. */
export interface ToppedUpDto {
  wallet: WalletDto;
  wallet_transaction: WalletTransactionDto;
  /** The invoice that is to be paid; null for credits that have arrived. */
  invoice_id: string | null;
}

@Route('v1/wallets')
@Tags('Wallets')
export class WalletMoneyController extends ApiController<BillingDependencies> {
  /**
   * The balance after the usage of the running period and of unpaid invoices.
   * @summary Read the real-time balance of a wallet
   */
  @Get('{id}/balance/real-time')
  @Extension('x-operation', { entity: 'wallet', access: 'read', rate: 'heavy' })
  public readRealTimeBalance(@Path() id: string): Promise<RealTimeWalletDto> {
    return this.run(readRealTimeBalance, id);
  }

  /**
   * Free credits and those that were paid elsewhere arrive at once; those that are invoiced when
   * the invoice is paid.
   * @summary Top up a wallet
   */
  @Post('{id}/top-up')
  @Extension('x-operation', { entity: 'wallet', access: 'write' })
  public async topUpWallet(
    @Path() id: string,
    @Body() body: TopUpWalletBody,
  ): Promise<ToppedUpDto> {
    const done = await this.run(topUpWallet, { id, body });
    return {
      wallet: walletToDto(done.wallet),
      wallet_transaction: walletTransactionToDto(done.transaction),
      invoice_id: done.invoiceId,
    };
  }
}
