import {
  Body,
  Controller,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Queries,
  Request,
  Route,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
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
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../../edge/versions.js';
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
export class WalletsController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * A customer has one active wallet of each currency, type, rates and kind of prices that it pays.
   * @summary Create a wallet
   */
  @Post()
  @Extension('x-operation', { entity: 'wallet', access: 'write', versioned: true, notFound: true })
  public async createWallet(
    @Request() request: HttpRequest,
    @Body() body: CreateWalletBody,
  ): Promise<WalletDto> {
    const wallet = accepted(await createWallet(this.dependencies, occasionOf(request), body));
    tagVersion(this, wallet.version);
    return walletToDto(wallet);
  }

  /** @summary Search wallets */
  @Post('search')
  @Extension('x-operation', { entity: 'wallet', access: 'read' })
  public async searchWallets(
    @Request() request: HttpRequest,
    @Body() body: SearchWalletsBody,
  ): Promise<WalletListDto> {
    const page = accepted(await searchWallets(this.dependencies, occasionOf(request), body));
    return pageToDto(page, expandedWalletToDto);
  }

  /** @summary Search wallet transactions */
  @Post('transactions/search')
  @Extension('x-operation', { entity: 'wallet', access: 'read' })
  public async searchTransactions(
    @Request() request: HttpRequest,
    @Body() body: SearchTransactionsBody,
  ): Promise<WalletTransactionListDto> {
    const page = accepted(await searchTransactions(this.dependencies, occasionOf(request), body));
    return pageToDto(page, walletTransactionToDto);
  }

  /** @summary Read a wallet */
  @Get('{id}')
  @Extension('x-operation', { entity: 'wallet', access: 'read', versioned: true })
  public async readWallet(@Request() request: HttpRequest, @Path() id: string): Promise<WalletDto> {
    const wallet = accepted(await readWallet(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, wallet.row.version);
    return expandedWalletToDto(wallet);
  }

  /** @summary Change a wallet */
  @Put('{id}')
  @Extension('x-operation', { entity: 'wallet', access: 'write', versioned: true })
  public async changeWallet(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeWalletBody,
  ): Promise<WalletDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const wallet = accepted(await changeWallet(this.dependencies, occasionOf(request), change));
    tagVersion(this, wallet.version);
    return walletToDto(wallet);
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List the transactions of a wallet
   */
  @Get('{id}/transactions')
  @Extension('x-operation', { entity: 'wallet', access: 'read' })
  public async listTransactions(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Queries() query: ListTransactionsQuery,
  ): Promise<WalletTransactionListDto> {
    const list = { id, query };
    const page = accepted(await listTransactions(this.dependencies, occasionOf(request), list));
    return pageToDto(page, walletTransactionToDto);
  }

  /**
   * Takes credits in the order of their use. Of debits at once none takes what another has taken.
   * @summary Debit a wallet
   */
  @Post('{id}/debit')
  @Extension('x-operation', { entity: 'wallet', access: 'write' })
  public async debitWallet(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: DebitWalletBody,
  ): Promise<WalletMovementDto> {
    const debit = { id, body };
    const moved = accepted(await debitWallet(this.dependencies, occasionOf(request), debit));
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
  public async terminateWallet(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<WalletDto> {
    const target = { id, isExpected: expectedVersions(request) };
    const wallet = accepted(await terminateWallet(this.dependencies, occasionOf(request), target));
    tagVersion(this, wallet.version);
    return walletToDto(wallet);
  }

  /**
   * Closes a PRE_PAID wallet and gives all of its credits to a new POST_PAID one.
   * @summary Make a wallet postpaid
   */
  @Post('{id}/modify')
  @Extension('x-operation', { entity: 'wallet', access: 'write' })
  public async modifyWallet(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() _body: ModifyWalletBody,
  ): Promise<ModifiedWalletDto> {
    const done = accepted(await convertWallet(this.dependencies, occasionOf(request), id));
    return { original_wallet: walletToDto(done.original), new_wallet: walletToDto(done.made) };
  }
}
