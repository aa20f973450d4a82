import { Body, Extension, Get, Path, Post, Put, Queries, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import {
  walletTransactionToDto,
  type WalletTransactionDto,
  type WalletTransactionListDto,
} from '../../declarations/money/wallet-transaction.resource.js';
import {
  walletToDto,
  type ChangeWalletBody,
  type CreateWalletBody,
  type WalletDto,
  type WalletListDto,
} from '../../declarations/money/wallet.resource.js';
import { pageToDto } from '../../records/search-records.js';
import type { WriteDependencies } from '../../records/unit.js';
import {
  convertWallet,
  debitWallet,
  terminateWallet,
  type DebitWalletBody,
} from './debit-wallet.js';
import {
  listTransactions,
  searchTransactions,
  searchWallets,
  type ListTransactionsQuery,
  type SearchTransactionsBody,
  type SearchWalletsBody,
} from './search-wallets.js';
import { expandedWalletToDto } from './wallet-expansions.js';
import { changeWallet, createWallet, readWallet } from './wallet-operations.js';

/** A wallet after a movement of credits. */
export interface WalletMovementDto {
  wallet: WalletDto;
  wallet_transaction: WalletTransactionDto;
}

/** @example {"modification_type": "prepaid_to_postpaid"} */
export interface ModifyWalletBody {
  modification_type: 'prepaid_to_postpaid';
  /** Other members have no effect. */
  [member: string]: unknown;
}

/** The closed wallet and the one that has its credits. */
export interface ModifiedWalletDto {
  original_wallet: WalletDto;
  new_wallet: WalletDto;
}

@Route('v1/wallets')
@Tags('Wallets')
export class WalletsController extends ApiController<WriteDependencies> {
  /**
   * A customer has one active wallet of each currency, type, rates and kind of prices that it pays.
   * @summary Create a wallet
   */
  @Post()
  @Extension('x-operation', { entity: 'wallet', access: 'write', versioned: true, notFound: true })
  public async createWallet(@Body() body: CreateWalletBody): Promise<WalletDto> {
    return walletToDto(this.tagged(await this.run(createWallet, body)));
  }

  /** @summary Search wallets */
  @Post('search')
  @Extension('x-operation', { entity: 'wallet', access: 'read' })
  public async searchWallets(@Body() body: SearchWalletsBody): Promise<WalletListDto> {
    return pageToDto(await this.run(searchWallets, body), expandedWalletToDto);
  }

  /** @summary Search wallet transactions */
  @Post('transactions/search')
  @Extension('x-operation', { entity: 'wallet', access: 'read' })
  public async searchTransactions(
    @Body() body: SearchTransactionsBody,
  ): Promise<WalletTransactionListDto> {
    return pageToDto(await this.run(searchTransactions, body), walletTransactionToDto);
  }

  /** @summary Read a wallet */
  @Get('{id}')
  @Extension('x-operation', { entity: 'wallet', access: 'read', versioned: true })
  public async readWallet(@Path() id: string): Promise<WalletDto> {
    return expandedWalletToDto(this.matched(await this.run(readWallet, id)));
  }

  /** @summary Change a wallet */
  @Put('{id}')
  @Extension('x-operation', { entity: 'wallet', access: 'write', versioned: true })
  public async changeWallet(
    @Path() id: string,
    @Body() body: ChangeWalletBody,
  ): Promise<WalletDto> {
    return walletToDto(this.tagged(await this.run(changeWallet, this.changeOf(id, body))));
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List the transactions of a wallet
   */
  @Get('{id}/transactions')
  @Extension('x-operation', { entity: 'wallet', access: 'read' })
  public async listTransactions(
    @Path() id: string,
    @Queries() query: ListTransactionsQuery,
  ): Promise<WalletTransactionListDto> {
    return pageToDto(await this.run(listTransactions, { id, query }), walletTransactionToDto);
  }

  /**
   * Takes credits in the order of their use. Of debits at once none takes what another has taken.
   * @summary Debit a wallet
   */
  @Post('{id}/debit')
  @Extension('x-operation', { entity: 'wallet', access: 'write' })
  public async debitWallet(
    @Path() id: string,
    @Body() body: DebitWalletBody,
  ): Promise<WalletMovementDto> {
    const moved = await this.run(debitWallet, { id, body });
    return {
      wallet: walletToDto(moved.wallet),
      wallet_transaction: walletTransactionToDto(moved.transaction),
    };
  }

  /**
   * What is left of its credits is lost, and nothing comes in or goes out any more.
   * @summary Terminate a wallet
   */
  @Post('{id}/terminate')
  @Extension('x-operation', { entity: 'wallet', access: 'write', versioned: true })
  public async terminateWallet(@Path() id: string): Promise<WalletDto> {
    return walletToDto(this.tagged(await this.run(terminateWallet, this.target(id))));
  }

  /**
   * Closes a PRE_PAID wallet and gives all of its credits to a new POST_PAID one.
   * @summary Make a wallet postpaid
   */
  @Post('{id}/modify')
  @Extension('x-operation', { entity: 'wallet', access: 'write' })
  public async modifyWallet(
    @Path() id: string,
    @Body() _body: ModifyWalletBody,
  ): Promise<ModifiedWalletDto> {
    const done = await this.run(convertWallet, id);
    return { original_wallet: walletToDto(done.original), new_wallet: walletToDto(done.made) };
  }
}
